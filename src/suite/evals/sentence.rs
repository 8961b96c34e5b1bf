//! The small language in which some suites write checks as sentences: `contains 'x'`, `contains:x`.
//!
//! A sentence is consumed whole or it is prose: an operand without quotes ("contains a table of …") is prose.

use super::rule::Rule;

/// The rule that a sentence states; `None` for prose.
pub(super) fn parse(text: &str) -> Option<Rule> {
    prefixed(text).or_else(|| quoted(text))
}

/// `contains:x`, `matches:re`, `file:path`, `json:key`. A blank behind the colon makes it prose.
fn prefixed(text: &str) -> Option<Rule> {
    let (word, operand) = text.split_once(':')?;
    if operand.starts_with(char::is_whitespace) {
        return None;
    }
    let operand = operand.to_owned();
    Some(match word {
        "contains" => Rule::Contains(operand),
        "matches" => Rule::Regex(operand),
        "file" => Rule::FileExists(operand),
        "json" => Rule::JsonKeyExists(operand),
        _ => return None,
    })
}

/// A sentence with operands in quotes.
fn quoted(text: &str) -> Option<Rule> {
    let mut rest = Rest(text.trim());
    let first = part(&mut rest)?;
    if rest.is_at_end() {
        return Some(first);
    }
    let Rule::Contains(needle) = first else { return None };
    let mut needles = vec![needle];
    while !rest.is_at_end() {
        rest.words(&["or"])?;
        let Rule::Contains(needle) = part(&mut rest)? else { return None };
        needles.push(needle);
    }
    Some(Rule::ContainsAny(needles))
}

fn part(rest: &mut Rest<'_>) -> Option<Rule> {
    let _ = rest.words(&["output"]);
    if rest.words(&["contains", "zero", "instances", "of"]).is_some() {
        return banned(rest);
    }
    if rest.words(&["contains"]).is_some() {
        return Some(Rule::Contains(rest.operand()?));
    }
    if rest.words(&["does", "not", "contain"]).is_some() {
        return Some(Rule::NotContains(rest.operand()?));
    }
    if rest.words(&["starts", "with"]).is_some() {
        return Some(Rule::StartsWith(rest.operand()?));
    }
    if rest.words(&["ends", "with"]).is_some() {
        return Some(Rule::EndsWith(rest.operand()?));
    }
    if rest.words(&["matches", "regex"]).is_some() {
        return Some(Rule::Regex(rest.pattern()?));
    }
    if rest.words(&["has", "at", "least"]).is_some() {
        let count = rest.number()?;
        rest.words(&["lines"]).or_else(|| rest.words(&["line"]))?;
        return Some(Rule::LineCountGe(count));
    }
    rest.words(&["is", "valid", "json"]).map(|()| Rule::ValidJson)
}

/// `: 'a', 'b'`
fn banned(rest: &mut Rest<'_>) -> Option<Rule> {
    rest.0 = rest.0.strip_prefix(':')?;
    let mut needles = vec![rest.operand()?];
    while !rest.is_at_end() {
        rest.0 = rest.0.strip_prefix(',')?;
        needles.push(rest.operand()?);
    }
    Some(Rule::ExcludesAny { needles, ignore_case: true })
}

/// What is left of a sentence.
struct Rest<'t>(&'t str);

impl Rest<'_> {
    fn is_at_end(&self) -> bool {
        self.0.trim_start().is_empty()
    }

    /// Takes words in any case; takes nothing unless all of them are there.
    fn words(&mut self, words: &[&str]) -> Option<()> {
        let mut rest = self.0;
        for word in words {
            rest = rest.trim_start();
            let start = rest.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word))?;
            rest = &rest[start.len()..];
            if rest.starts_with(char::is_alphanumeric) {
                return None;
            }
        }
        self.0 = rest;
        Some(())
    }

    /// Takes a text in quotes. There are no escapes: the next closing quote ends it.
    fn operand(&mut self) -> Option<String> {
        let rest = self.0.trim_start();
        let open = rest.chars().next()?;
        let close: &[char] = match open {
            '\'' => &['\''],
            '"' => &['"'],
            '`' => &['`'],
            '\u{201c}' | '\u{201d}' => &['\u{201d}'],
            '\u{2018}' | '\u{2019}' => &['\u{2019}'],
            // the low quote of German and others closes with either high one
            '\u{201e}' => &['\u{201c}', '\u{201d}'],
            '\u{201a}' => &['\u{2018}', '\u{2019}'],
            '\u{ab}' => &['\u{bb}'],
            '\u{300c}' => &['\u{300d}'],
            '\u{300e}' => &['\u{300f}'],
            _ => return None,
        };
        let inner = &rest[open.len_utf8()..];
        let end = inner.find(close)?;
        let after = &inner[end..];
        self.0 = &after[after.chars().next().map_or(0, char::len_utf8)..];
        Some(inner[..end].to_owned())
    }

    /// Takes `/pattern/` up to the end of the sentence: a pattern may hold slashes.
    fn pattern(&mut self) -> Option<String> {
        let inner = self.0.trim().strip_prefix('/')?.strip_suffix('/')?;
        self.0 = "";
        Some(inner.to_owned())
    }

    fn number(&mut self) -> Option<u64> {
        let rest = self.0.trim_start();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        self.0 = &rest[digits..];
        rest[..digits].parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        parse(text).map(|rule| format!("{rule:?}"))
    }

    #[test]
    fn sentences_with_quoted_operands_are_rules() {
        for (text, rule) in [
            ("contains 'x'", r#"Contains("x")"#),
            ("  CONTAINS \"it's\" ", r#"Contains("it's")"#),
            ("output contains `a b`", r#"Contains("a b")"#),
            ("contains “smart”", r#"Contains("smart")"#),
            ("contains ‘it’", r#"Contains("it")"#),
            ("contains „tief“", r#"Contains("tief")"#),
            ("contains «кавычки»", r#"Contains("кавычки")"#),
            ("contains 「日本」", r#"Contains("日本")"#),
            ("does not contain 'x'", r#"NotContains("x")"#),
            ("starts with '{'", r#"StartsWith("{")"#),
            ("ends with '}'", r#"EndsWith("}")"#),
            ("contains 'x' or contains \"y\" OR contains `z`", r#"ContainsAny(["x", "y", "z"])"#),
            ("contains 'a or b'", r#"Contains("a or b")"#),
            (r#"matches regex /a/b\s*"/"#, r#"Regex("a/b\\s*\"")"#),
            ("has at least 3 lines", "LineCountGe(3)"),
            ("has at least 1 line", "LineCountGe(1)"),
            ("is valid JSON", "ValidJson"),
            (
                "Output contains zero instances of: 'a', \"b\"",
                r#"ExcludesAny { needles: ["a", "b"], ignore_case: true }"#,
            ),
            ("contains ''", r#"Contains("")"#),
            ("contains 'A'", r#"Contains("A")"#),
            ("contains:x: y", r#"Contains("x: y")"#),
            ("matches:(?i)a|b", r#"Regex("(?i)a|b")"#),
            ("file:a/b.md", r#"FileExists("a/b.md")"#),
            ("json:a.0.b", r#"JsonKeyExists("a.0.b")"#),
        ] {
            assert_eq!(shown(text).as_deref(), Some(rule), "{text}");
        }
    }

    #[test]
    fn whatever_is_left_over_makes_prose() {
        for text in [
            "",
            "contains",
            "contains a table of results",
            "contains 'x",
            "contains 'x' and 'y'",
            "contains 'x' or 'y'",
            "contains 'x' or mentions y",
            "contains 'x' or",
            "contains 'x' or does not contain 'y'",
            "starts with 'x' or starts with 'y'",
            "contains 'x'.",
            "contains 'March 15' (with or without year)",
            "containsx 'x'",
            "contains zero instances of: 'here's the thing', 'full stop'",
            "contains zero instances of 'a'",
            "Zero instances of: 'a'",
            "matches regex /x/i",
            "matches regex x",
            "matches regex /",
            "has at least three lines",
            "has at least 99999999999999999999999 lines",
            "is valid JSON with a key",
            "Contains: a list",
            "contains: a list",
            "file: the plan",
            "note:x",
            "contains “x\"",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }
}
