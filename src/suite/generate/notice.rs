//! What the author of a skill should know about a set that was made from it.

use thiserror::Error;

/// What a description lacks, or what in the set needs the author's eyes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Notice {
    /// Few prompts could be made that should trigger.
    #[error(
        "few_positives: {}; add to the description what users say, between double quotes (… when the user says \
         \"make a report\"), and what the skill works on (sales figures, PDF forms)",
        counted(*.count)
    )]
    FewPositives {
        /// How many.
        count: usize,
    },
    /// The description speaks of what a prompt that should not trigger asks for.
    #[error(
        "near_miss_on_topic: {eval_name} asks for what the description may offer ({word}); if the skill should trigger \
         there, change or remove this eval"
    )]
    NearMissOnTopic {
        /// The eval.
        eval_name: String,
        /// The word that both have.
        word: String,
    },
}

fn counted(count: usize) -> String {
    match count {
        0 => "no eval should trigger".to_owned(),
        1 => "only 1 eval should trigger".to_owned(),
        count => format!("only {count} evals should trigger"),
    }
}
