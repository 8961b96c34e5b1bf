//! The set: evals that should trigger, then evals that should not.

use std::collections::HashSet;

use serde::Serialize;

use super::features::Features;
use super::notice::Notice;
use super::prompts::{NEAR_MISSES, casual_prompt, direct_prompt};
use crate::skill::SkillPackage;

/// So many phrases become prompts.
const MAX_DIRECT: usize = 5;

/// The first id of an eval that should not trigger.
const FIRST_NEGATIVE: usize = 100;

/// With fewer evals that should trigger the author is told what to add.
const ENOUGH_POSITIVES: usize = 5;

/// An eval set of the `skill-forge` format. Its keys are written in this order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvalSet {
    skill_name: String,
    skill_path: String,
    generated_from: &'static str,
    evals: Vec<Eval>,
    metadata: Metadata,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Eval {
    eval_id: usize,
    eval_name: String,
    prompt: String,
    input_files: [String; 0],
    assertions: [EvalAssertion; 1],
    should_trigger: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct EvalAssertion {
    name: &'static str,
    check: String,
    weight: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Metadata {
    trigger_phrases_found: usize,
    keywords_found: usize,
    headings_found: usize,
    total_evals: usize,
    should_trigger_count: usize,
    should_not_trigger_count: usize,
}

impl EvalSet {
    /// How many evals should trigger.
    pub fn positives(&self) -> usize {
        self.metadata.should_trigger_count
    }

    /// How many evals should not trigger.
    pub fn negatives(&self) -> usize {
        self.metadata.should_not_trigger_count
    }
}

/// Makes a set from a skill. `skill_path` is what the set calls the folder of the skill.
pub fn generate(skill: &SkillPackage, skill_path: String) -> (EvalSet, Vec<Notice>) {
    let features = Features::of(&skill.description, &skill.body);
    let mut evals = positives(&skill.name, &features);
    let should_trigger_count = evals.len();
    evals.extend(negatives(&skill.name, &features));
    let mut notices = Vec::new();
    if should_trigger_count < ENOUGH_POSITIVES {
        notices.push(Notice::FewPositives { count: should_trigger_count });
    }
    notices.extend(on_topic(&features.about));
    let metadata = Metadata {
        trigger_phrases_found: features.phrases.len(),
        keywords_found: features.keywords.len(),
        headings_found: features.headings,
        total_evals: evals.len(),
        should_trigger_count,
        should_not_trigger_count: evals.len() - should_trigger_count,
    };
    let skill_name = skill.name.clone();
    let set = EvalSet { skill_name, skill_path, generated_from: "description + instructions", evals, metadata };
    (set, notices)
}

fn positives(skill_name: &str, features: &Features) -> Vec<Eval> {
    let direct = features.phrases.iter().take(MAX_DIRECT).enumerate();
    let direct = direct.map(|(position, phrase)| ("direct", direct_prompt(position, phrase)));
    let casual = features.keywords.iter().enumerate();
    let casual = casual.map_while(|(position, keyword)| Some(("casual", casual_prompt(position, keyword)?)));
    let mut seen = HashSet::new();
    let prompts = direct.chain(casual).filter(|(_, prompt)| seen.insert(prompt.to_lowercase()));
    let check = format!("The skill \"{skill_name}\" activated and began its workflow");
    prompts
        .enumerate()
        .map(|(id, (group, prompt))| Eval {
            eval_id: id,
            eval_name: format!("trigger-{group}-{id}"),
            prompt,
            input_files: [],
            assertions: [EvalAssertion { name: "skill-activated", check: check.clone(), weight: 1.0 }],
            should_trigger: true,
        })
        .collect()
}

fn negatives(skill_name: &str, features: &Features) -> impl Iterator<Item = Eval> {
    let check = format!("The skill \"{skill_name}\" did not activate");
    let keywords: Vec<&str> = match features.keywords.as_slice() {
        // the prompts still read well with it
        [] => vec!["this"],
        keywords => keywords.iter().map(String::as_str).collect(),
    };
    NEAR_MISSES.iter().enumerate().map(move |(position, near_miss)| Eval {
        eval_id: FIRST_NEGATIVE + position,
        eval_name: near_miss_name(position),
        prompt: near_miss.prompt(keywords[position % keywords.len()]),
        input_files: [],
        assertions: [EvalAssertion { name: "skill-not-activated", check: check.clone(), weight: 1.0 }],
        should_trigger: false,
    })
}

fn near_miss_name(position: usize) -> String {
    format!("no-trigger-near-miss-{position}")
}

/// The near misses that ask for something which the description speaks of.
fn on_topic(description: &str) -> impl Iterator<Item = Notice> {
    NEAR_MISSES.iter().enumerate().filter_map(|(position, near_miss)| {
        let word = near_miss.asks_for.iter().find(|word| mentions(description, word))?;
        Some(Notice::NearMissOnTopic { eval_name: near_miss_name(position), word: (*word).to_owned() })
    })
}

/// Whether a text has a word that begins with these letters; very short ones must be the whole word.
fn mentions(text: &str, beginning: &str) -> bool {
    text.match_indices(beginning).any(|(at, _)| {
        let after = text[at + beginning.len()..].chars().next();
        let is_inside = text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        !is_inside && (beginning.len() > 4 || after.is_none_or(|next| !next.is_alphanumeric()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_are_beginnings_of_words() {
        assert!(mentions("for code reviews", "review"));
        assert!(!mentions("previews", "review"));
        assert!(mentions("set up ci.", "ci"));
        assert!(!mentions("circles", "ci"));
        assert!(!mentions("testament", "test"));
    }
}
