//! The words of the prompts.

/// A first sentence for what a user says: it fits an order, a question and a bare noun.
const LEADS: [&str; 5] = [
    "I need help with something: ",
    "Here's my request: ",
    "This is what I'm after: ",
    "Next on my list: ",
    "I'd like to get this done: ",
];

/// Prompts in which a keyword says what somebody wants done.
const CASUAL: [&str; 5] = [
    "Hey, I could use a hand with {}. Where do we start?",
    "I've been putting off {} all week. Can you help me get through it now?",
    "My team is waiting on me for {}. Please take it from here.",
    "I'm a bit stuck with {} and I have to hand something in today. Can you sort it out for me?",
    "I don't have much time this morning, can you take care of {} for me?",
];

/// A prompt that mentions a keyword and wants something else.
pub(super) struct NearMiss {
    template: &'static str,
    /// Beginnings of the words for what it asks for.
    pub(super) asks_for: &'static [&'static str],
}

/// The ten kinds of near misses of the format, in its order.
pub(super) const NEAR_MISSES: [NearMiss; 10] = [
    NearMiss {
        template: "Can you explain to me in a few sentences what people mean by {}? I only want to understand the term.",
        asks_for: &["explain", "explanation"],
    },
    NearMiss {
        template: "I'm writing the docs of our project. How should I word the paragraph that mentions {}?",
        asks_for: &["docs", "documentation", "readme"],
    },
    NearMiss {
        template: "I'd like to learn more about {}. Which books or tutorials would you recommend to me?",
        asks_for: &["tutorial", "learn", "teach"],
    },
    NearMiss {
        template: "I'm preparing a talk. What are the usual approaches to {}, and how do they compare in general?",
        asks_for: &["compar", "tradeoff", "trade-off"],
    },
    NearMiss {
        template: "I'm looking for open-source projects that have to do with {}. Can you list the best known for me?",
        asks_for: &["open-source", "discover", "search"],
    },
    NearMiss {
        template: "My program crashes on startup and the error message mentions {}. Can you help me read the stack trace?",
        asks_for: &["debug", "error", "crash", "troubleshoot"],
    },
    NearMiss {
        template: "I have a function of 200 lines in the code for {}. Help me split it up without changing what it does.",
        asks_for: &["refactor", "restructur"],
    },
    NearMiss {
        template: "Our code for {} has no tests yet. Can you add unit tests to it for me?",
        asks_for: &["test", "testing", "tests"],
    },
    NearMiss {
        template: "I opened a pull request that renames variables in the code for {}. Can you review my change?",
        asks_for: &["review", "pull request"],
    },
    NearMiss {
        template: "I want CI for our repository: run the linter on every push, also on the code for {}.",
        asks_for: &["ci", "ci/cd", "continuous integration", "pipeline"],
    },
];

/// A prompt with what a user says. What already speaks for the user stands alone.
pub(super) fn direct_prompt(position: usize, phrase: &str) -> String {
    let is_first_person = |word: &str| {
        let word = word.trim_matches(|character: char| !character.is_alphanumeric()).to_lowercase();
        let stem = word.split(['\'', '’']).next().unwrap_or_default();
        matches!(stem, "i" | "me" | "my" | "mine" | "we" | "us" | "our" | "let")
    };
    if phrase.split_whitespace().any(is_first_person) {
        return phrase.to_owned();
    }
    format!("{}{phrase}", LEADS[position % LEADS.len()])
}

/// The prompt at a position that wants something done with a keyword; there are five.
pub(super) fn casual_prompt(position: usize, keyword: &str) -> Option<String> {
    CASUAL.get(position).map(|template| template.replace("{}", keyword))
}

impl NearMiss {
    /// The prompt about a keyword.
    pub(super) fn prompt(&self, keyword: &str) -> String {
        self.template.replace("{}", keyword)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_speaks_for_the_user_stands_alone() {
        assert_eq!(direct_prompt(0, "make report"), "I need help with something: make report");
        assert_eq!(direct_prompt(6, "weekly digest"), "Here's my request: weekly digest");
        assert_eq!(direct_prompt(0, "where's my digest?"), "where's my digest?");
        assert_eq!(direct_prompt(0, "I'm late"), "I'm late");
        // "time" and "summary" hold "me" and "my"
        assert_eq!(direct_prompt(0, "time summary"), "I need help with something: time summary");
    }

    #[test]
    fn no_template_speaks_of_skills_and_each_takes_a_keyword_once() {
        let templates = CASUAL.into_iter().chain(NEAR_MISSES.iter().map(|near_miss| near_miss.template));
        for template in templates {
            assert_eq!(template.matches("{}").count(), 1, "{template}");
            assert!(!template.to_lowercase().contains("skill"), "{template}");
            assert!(template.contains('I') || template.contains(" me") || template.contains("Our"), "{template}");
        }
    }
}
