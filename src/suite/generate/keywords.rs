//! Keywords: what a skill works on.
//!
//! The format's own generator takes the first words that are no stop words, which are mostly verbs ("builds"). Prompts
//! need what the verbs are about: here a keyword is a run of up to four words between stop words, verbs and punctuation,
//! after Rose, Engel, Cramer and Cowley, *Automatic keyword extraction from individual documents* (2010). The author's
//! own words come before those of trigger phrases, which have prompts already; among them several words and names come
//! before a single word, which says less; otherwise the order is that of the text.

use super::words::{VerbForm, is_stop_word, verb_form};

/// So many keywords are kept.
const MAX_KEYWORDS: usize = 20;

/// So many words a keyword has; of a longer run the last, which hold the noun.
const MAX_WORDS: usize = 4;

/// The keywords of a description: of its text, then of its trigger phrases; each once, at most 20.
/// One that ends another, like `orders` and `purchase orders`, is left out.
///
/// Only words in Latin letters count: the prompts are English.
pub(super) fn keywords<'t>(
    texts: impl Iterator<Item = &'t str>,
    phrases: impl Iterator<Item = &'t str>,
) -> Vec<String> {
    let mut own: Vec<String> = texts.flat_map(runs).collect();
    own.sort_by_key(|keyword| !is_specific(keyword));
    let mut known: Vec<String> = Vec::new();
    let mut keywords = own.into_iter().chain(phrases.flat_map(runs)).collect::<Vec<_>>();
    keywords.retain(|keyword| {
        let key = singular(&keyword.to_lowercase()).to_owned();
        // `orders` says no more than `purchase orders`
        let is_new = !known
            .iter()
            .any(|other| other.strip_suffix(&*key).is_some_and(|before| before.is_empty() || before.ends_with(' ')));
        let is_kept = is_new && known.len() < MAX_KEYWORDS;
        known.extend(is_kept.then_some(key));
        is_kept
    });
    keywords
}

/// Whether a keyword has several words or is a name like `PDF`.
fn is_specific(keyword: &str) -> bool {
    keyword.contains(' ') || keyword.chars().skip(1).any(char::is_uppercase)
}

/// Whether two keywords are the same for a reader: `report` and `reports` are.
fn singular(keyword: &str) -> &str {
    keyword.strip_suffix('s').filter(|stem| !stem.ends_with('s')).unwrap_or(keyword)
}

/// The runs of topical words of a text.
fn runs(text: &str) -> Vec<String> {
    let mut runs = Runs { begins_clause: true, ..Runs::default() };
    for token in text.split_whitespace() {
        if token.contains("://") || token.contains('@') {
            runs.end(Ending::Clause);
            continue;
        }
        // what is no letter, digit, hyphen or inner dot ends a run
        let mut parts = token.split(|character: char| !is_inner(character)).peekable();
        while let Some(part) = parts.next() {
            let word = part.trim_matches(|character: char| !character.is_alphanumeric());
            if !word.is_empty() {
                runs.word(word);
            }
            if parts.peek().is_some() || part.ends_with(['.', '-']) {
                runs.end(Ending::Clause);
            }
        }
    }
    runs.end(Ending::Clause);
    runs.found
}

fn is_inner(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '-' | '.' | '\'' | '’' | '+' | '#')
}

/// What comes after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// Punctuation, `and`, `or`, or nothing.
    Clause,
    /// A word that is no part of it.
    Word,
}

#[derive(Default)]
struct Runs {
    found: Vec<String>,
    open: Vec<String>,
    /// The first word of the run may be the verb of its clause.
    opens_with_verb: bool,
    /// The last word was `to`: what follows is mostly a verb.
    follows_to: bool,
    /// Nothing but punctuation, `and` and `or` came before.
    begins_clause: bool,
}

impl Runs {
    fn word(&mut self, word: &str) {
        let is_possessive = word.ends_with("'s") || word.ends_with("’s");
        let word = word.trim_end_matches("'s").trim_end_matches("’s");
        let lower = word.to_lowercase();
        if matches!(&*lower, "and" | "or") {
            self.end(Ending::Clause);
            return;
        }
        let begins_clause = std::mem::take(&mut self.begins_clause);
        let follows_to = std::mem::replace(&mut self.follows_to, lower == "to");
        let starts_run = self.open.is_empty();
        if !is_latin(word) || word.contains(['\'', '’']) || is_stop_word(&lower) || (is_possessive && starts_run) {
            self.end(Ending::Word);
            return;
        }
        let is_name = word.chars().skip(1).any(char::is_uppercase);
        let form = if is_name { VerbForm::None } else { verb_form(&lower) };
        let is_verb = match form {
            // what is done, as in `to style a page`; what is gone to is a name or several
            VerbForm::None => follows_to && !lower.ends_with('s') && word == lower,
            VerbForm::Finite => true,
            VerbForm::Gerund => starts_run,
            // `audits run`, `scripts build charts`: several do it
            VerbForm::Plain => self.open.last().is_none_or(|before| singular(before) != before),
            VerbForm::Ambiguous => follows_to,
        };
        if is_verb {
            self.end(Ending::Word);
            return;
        }
        if starts_run {
            self.opens_with_verb = begins_clause && form == VerbForm::Ambiguous;
        }
        // a capital at the begin of a sentence is no part of the word
        self.open.push(if is_name || !(starts_run && begins_clause) { word.to_owned() } else { lower });
    }

    fn end(&mut self, ending: Ending) {
        self.begins_clause = ending == Ending::Clause;
        self.follows_to &= ending == Ending::Word;
        let mut words = std::mem::take(&mut self.open);
        // `reports, invoices` names things; `reports what happened` and `test results` begin with what is done
        let is_list_item = words.len() == 1 && ending == Ending::Clause && words[0].ends_with('s');
        if std::mem::take(&mut self.opens_with_verb) && !is_list_item {
            words.remove(0);
        }
        let words = &words[words.len().saturating_sub(MAX_WORDS)..];
        let is_telling = match words {
            [] => false,
            [word] => word.chars().count() > 3 || is_specific(word),
            _ => true,
        };
        if is_telling {
            self.found.push(words.join(" "));
        }
    }
}

/// Whether a word begins with a letter and has no letters but Latin ones.
fn is_latin(word: &str) -> bool {
    let latin = |letter: char| matches!(letter, 'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}');
    word.chars().next().is_some_and(latin) && word.chars().all(|letter| latin(letter) || !letter.is_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        keywords([text].into_iter(), [].into_iter())
    }

    #[test]
    fn verbs_and_stop_words_separate_what_they_are_about() {
        assert_eq!(
            of("Extracts text and tables from PDF files, fills forms, and merges documents."),
            ["PDF files", "text", "tables", "forms", "documents"]
        );
        assert_eq!(
            of("Use when asked to style a webpage with poster-style layouts"),
            ["poster-style layouts", "webpage"]
        );
        assert_eq!(of("Reports the weekly report to PDF. Test results"), ["weekly report", "PDF", "results"]);
        assert_eq!(
            of("Apply image processing when processing images of the team's CI"),
            ["image processing", "CI", "images"]
        );
    }

    #[test]
    fn a_plain_verb_is_part_of_a_noun_unless_several_do_it() {
        assert_eq!(
            of("A two-pass rewrite flow. Deep audits run via scripts"),
            ["two-pass rewrite flow", "deep audits", "scripts"]
        );
    }

    #[test]
    fn names_keep_their_capitals() {
        assert_eq!(
            of("Kubernetes rollout notes for GitHub and the Swiss Poster design"),
            ["kubernetes rollout notes", "GitHub", "Swiss Poster design"]
        );
    }

    #[test]
    fn the_last_four_words_of_a_run_and_twenty_runs() {
        assert_eq!(of("alpha beta gamma delta epsilon"), ["beta gamma delta epsilon"]);
        let many: String = ('a'..='z').map(|letter| format!("{letter}{letter}{letter}{letter}, ")).collect();
        assert_eq!(of(&many).len(), 20);
    }

    #[test]
    fn the_same_keyword_comes_once() {
        assert_eq!(of("reports, report, Reports, class, classs"), ["reports", "class", "classs"]);
        assert_eq!(of("orders, border, purchase order"), ["purchase order", "border"]);
    }

    #[test]
    fn other_letters_make_no_keywords() {
        assert_eq!(of("週報を作成します отчёты résumé https://example.org/reports a@example.org"), ["résumé"]);
    }
}
