//! What a skill says of itself: trigger phrases, keywords, headings.

use std::collections::HashSet;

use super::keywords::keywords;

/// Longest trigger phrase in characters; what is longer are two quotes that do not belong together.
const MAX_PHRASE: usize = 200;

/// What the prompts are made of.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Features {
    /// What users say, in the order of the description, each once.
    pub(super) phrases: Vec<String>,
    /// What the skill is about, the most telling first; at most 20.
    pub(super) keywords: Vec<String>,
    /// Headings of the levels 1 to 3 in the body, outside of code.
    pub(super) headings: usize,
    /// The description in lower case without what it excludes.
    pub(super) about: String,
}

impl Features {
    pub(super) fn of(description: &str, body: &str) -> Self {
        let sentences = sentences(description);
        let pieces = || sentences.iter().flatten();
        let mut phrases: Vec<String> = Vec::new();
        let mut known = HashSet::new();
        for piece in pieces() {
            if let Piece::Quoted(text) = piece
                && let Some(phrase) = phrase(text)
                && known.insert(phrase.to_lowercase())
            {
                phrases.push(phrase);
            }
        }
        let plain = pieces().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Quoted(_) => None,
        });
        let keywords = keywords(plain, phrases.iter().map(String::as_str));
        let words: Vec<&str> = pieces().map(|(Piece::Text(text) | Piece::Quoted(text))| text.as_str()).collect();
        Self { phrases, keywords, headings: headings(body), about: words.join(" ").to_lowercase() }
    }
}

/// A quoted text as a user would say it.
fn phrase(text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim_end_matches([',', ';', '.', ' ']);
    let is_said = text.chars().any(char::is_alphanumeric) && text.chars().count() <= MAX_PHRASE;
    is_said.then(|| text.to_owned())
}

/// A part of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// The author's own words.
    Text(String),
    /// What stands between double quotes.
    Quoted(String),
}

/// After one of these a sentence says when the skill is not for.
const EXCLUSIONS: [&str; 17] = [
    "do not use",
    "do not trigger",
    "do not activate",
    "do not invoke",
    "don't use",
    "don't trigger",
    "don't activate",
    "don't invoke",
    "never use",
    "never trigger",
    "should not be used",
    "should not trigger",
    "not for ",
    "not when ",
    "not intended for",
    "not meant for",
    "avoid using",
];

/// The sentences of a description, each without what it excludes.
fn sentences(description: &str) -> Vec<Vec<Piece>> {
    let mut sentences = vec![Vec::new()];
    let mut is_excluded = false;
    for piece in pieces(description) {
        let text = match piece {
            Piece::Text(text) => text,
            quoted @ Piece::Quoted(_) => {
                if let Some(sentence) = sentences.last_mut().filter(|_| !is_excluded) {
                    sentence.push(quoted);
                }
                continue;
            }
        };
        for (number, part) in split_sentences(&text).into_iter().enumerate() {
            if number > 0 {
                sentences.push(Vec::new());
                is_excluded = false;
            }
            let folded = part.to_ascii_lowercase().replace('’', "'");
            // the replaced apostrophe is shorter, so that only the folded text can be cut at what is found in it
            let cut = EXCLUSIONS.iter().filter_map(|words| folded.find(words)).min();
            let kept = cut.map_or(part, |at| {
                let characters = folded[..at].chars().count();
                part.char_indices().nth(characters).map_or(part, |(end, _)| &part[..end])
            });
            if let Some(sentence) = sentences.last_mut().filter(|_| !is_excluded) {
                sentence.push(Piece::Text(kept.to_owned()));
            }
            is_excluded |= cut.is_some();
        }
    }
    sentences
}

/// The parts of a text that end with `.`, `!`, `?` before white space, or with `;`.
fn split_sentences(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let ends = match character {
            ';' => true,
            '.' | '!' | '?' => characters.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends && !text[start..at].ends_with("e.g") && !text[start..at].ends_with("i.e") {
            parts.push(&text[start..=at]);
            start = at + 1;
        }
    }
    parts.push(&text[start..]);
    parts
}

/// A description as what stands between double quotes, straight or typographic, and what does not. A quote without a
/// partner is text.
fn pieces(description: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut start, mut from) = (0, 0);
    // what has no partner left is not looked for again
    let mut quotes: Vec<(char, &[char])> = vec![('"', &['"']), ('“', &['”']), ('„', &['“', '”'])];
    while let Some(offset) = description[from..].find(|character| quotes.iter().any(|(open, _)| *open == character)) {
        let open = from + offset;
        let Some((quote, closing)) = quotes.iter().find(|(quote, _)| description[open..].starts_with(*quote)).copied()
        else {
            break;
        };
        let inner = open + quote.len_utf8();
        match description[inner..].find(closing) {
            Some(length) => {
                let end = inner + length;
                pieces.push(Piece::Text(description[start..open].to_owned()));
                pieces.push(Piece::Quoted(description[inner..end].to_owned()));
                start = end + description[end..].chars().next().map_or(0, char::len_utf8);
                from = start;
            }
            None => {
                quotes.retain(|(open, _)| *open != quote);
                from = inner;
            }
        }
    }
    pieces.push(Piece::Text(description[start..].to_owned()));
    pieces
}

/// Counts headings of the levels 1 to 3 that have a text. Lines of fenced code are comments there, not headings.
fn headings(body: &str) -> usize {
    let mut fence: Option<(char, usize)> = None;
    let mut count = 0;
    for line in body.lines() {
        let text = line.trim_start_matches(' ');
        if line.len() - text.len() > 3 {
            continue;
        }
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'));
        let run = mark.map_or(0, |mark| text.chars().take_while(|other| *other == mark).count());
        match (fence, mark) {
            (Some((open, length)), Some(mark)) if mark == open && run >= length && text[run..].trim().is_empty() => {
                fence = None;
            }
            (None, Some(mark)) if run >= 3 && (mark == '~' || !text[run..].contains('`')) => fence = Some((mark, run)),
            (None, _) => count += usize::from(is_heading(text)),
            (Some(_), _) => {}
        }
    }
    count
}

fn is_heading(text: &str) -> bool {
    let rest = text.trim_start_matches('#');
    (1..=3).contains(&(text.len() - rest.len())) && rest.starts_with([' ', '\t']) && !rest.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(description: &str) -> Vec<String> {
        Features::of(description, "").phrases
    }

    #[test]
    fn phrases_stand_between_double_quotes() {
        assert_eq!(
            phrases(r#"Use for "make  report", "weekly digest." or "Make report""#),
            ["make report", "weekly digest"]
        );
        assert_eq!(phrases("says “make report” or „wochenbericht“"), ["make report", "wochenbericht"]);
        assert_eq!(phrases(r#"a 12" ruler"#), [""; 0]);
        assert_eq!(phrases("“ opens nothing, \"closed\" and \" again"), ["closed"]);
        assert_eq!(phrases(r#""" or "..." or "ok""#), ["ok"]);
        assert_eq!(phrases(&format!("\"{}\"", "a".repeat(201))), [""; 0]);
    }

    #[test]
    fn what_a_skill_is_not_for_is_no_phrase_and_no_keyword() {
        let description = r#"Reviews invoices. Do not use when the user says "pay invoice" or for receipts. Use for "check invoice"; not for "tax""#;
        assert_eq!(phrases(description), ["check invoice"]);
        let keywords = Features::of(description, "").keywords;
        assert!(!keywords.iter().any(|word| word.contains("receipt") || word.contains("tax")), "{keywords:?}");
        assert_eq!(phrases(r#"Don’t use for "a". Say "b""#), ["b"]);
        assert_eq!(phrases(r#"é’é don’t use "a""#), [""; 0]);
    }

    #[test]
    fn headings_outside_of_code() {
        // counted: Title, Steps, Indented; not: level 4, no text, no space, comments in fences, indented code
        let body = "# Title\n\n## Steps\n#### Four\n##\n#no\n```bash\n# comment\n~~~\n# comment\n```\n   ### Indented\n    # code\n~~~~\n~~~\n# comment\n~~~~\n";
        assert_eq!(headings(body), 3);
        // a fence that does not close goes to the end; a line with code in it opens none
        assert_eq!(headings("``` not a fence ```\n# One\n```\n# comment\n"), 1);
    }
}
