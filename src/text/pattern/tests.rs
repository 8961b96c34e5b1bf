//! Patterns against CPython 3.11.7: refusals, matches with their spans, and the limits that are ours.

use super::*;
use crate::python::universal_newlines;
use crate::view::Comparison;

const IGNORE: bool = true;
const KEEP: bool = false;

/// Patterns that `re.compile` refuses, with its reason and position.
#[rustfmt::skip]
const REFUSED: &[(&str, &str, Option<usize>)] = &[
    ("(?<=a+)b", "look-behind requires fixed-width pattern", None),
    ("(?<=a", "missing ), unterminated subpattern", Some(0)),
    ("bc)d", "unbalanced parenthesis", Some(2)),
    ("(?<!a?)b", "look-behind requires fixed-width pattern", None),
    ("\\k<n>", "bad escape \\k", Some(0)),
    ("(?<n>a)", "unknown extension ?<n", Some(1)),
    ("(a)\\2", "invalid group reference 2", Some(4)),
    ("(?(2)a)(b)", "invalid group reference 2", Some(3)),
    ("\\z", "bad escape \\z", Some(0)),
    ("a(?i)b", "global flags not at the start of the expression", Some(1)),
    ("(?U)a", "unknown extension ?U", Some(1)),
    ("(?R)", "unknown extension ?R", Some(1)),
    ("\\p{L}", "bad escape \\p", Some(0)),
    ("\\h", "bad escape \\h", Some(0)),
    ("\\R", "bad escape \\R", Some(0)),
    ("\\K", "bad escape \\K", Some(0)),
    ("\\G", "bad escape \\G", Some(0)),
    ("\\e", "bad escape \\e", Some(0)),
    ("\\y", "bad escape \\y", Some(0)),
    ("a**", "multiple repeat", Some(2)),
    ("a+*", "multiple repeat", Some(2)),
    ("a{2}{3}", "multiple repeat", Some(4)),
    ("^*", "nothing to repeat", Some(1)),
    ("$*", "nothing to repeat", Some(1)),
    ("\\b+", "nothing to repeat", Some(2)),
    ("a?++", "multiple repeat", Some(3)),
    ("a{1}?+", "multiple repeat", Some(5)),
    ("*a", "nothing to repeat", Some(0)),
    ("+", "nothing to repeat", Some(0)),
    ("?", "nothing to repeat", Some(0)),
    ("(?P<n>a)(?P<n>b)", "redefinition of group name 'n' as group 2; was group 1", Some(12)),
    ("(unclosed", "missing ), unterminated subpattern", Some(0)),
    ("x)", "unbalanced parenthesis", Some(1)),
    ("[z-a]", "bad character range z-a", Some(1)),
    ("[a", "unterminated character set", Some(0)),
    ("[]", "unterminated character set", Some(0)),
    ("[^]", "unterminated character set", Some(0)),
    ("[a-\\d]", "bad character range a-\\d", Some(1)),
    ("[\\w-a]", "bad character range \\w-a", Some(1)),
    ("\\", "bad escape (end of pattern)", Some(0)),
    ("[\\", "bad escape (end of pattern)", Some(1)),
    ("(?", "unexpected end of pattern", Some(2)),
    ("(?P", "unexpected end of pattern", Some(3)),
    ("(?P<", "missing group name", Some(4)),
    ("(?P<>a)", "missing group name", Some(4)),
    ("(?P<1a>b)", "bad character in group name '1a'", Some(4)),
    ("(?P<a b>c)", "bad character in group name 'a b'", Some(4)),
    ("(?P=x)", "unknown group name 'x'", Some(4)),
    ("(?P=", "missing group name", Some(4)),
    ("(?Px)", "unknown extension ?Px", Some(1)),
    ("(?<x)", "unknown extension ?<x", Some(1)),
    ("(?#a", "missing ), unterminated comment", Some(0)),
    ("(?i", "missing -, : or )", Some(3)),
    ("(?i-", "missing flag", Some(4)),
    ("(?i-)", "missing flag", Some(4)),
    ("(?-i)", "missing :", Some(4)),
    ("(?-:a)", "missing flag", Some(3)),
    ("(?i-i:a)", "bad inline flags: flag turned on and off", Some(5)),
    ("(?au)", "bad inline flags: flags 'a', 'u' and 'L' are incompatible", Some(4)),
    ("(?L)", "bad inline flags: cannot use 'L' flag with a str pattern", Some(3)),
    ("(?L:a)", "bad inline flags: cannot use 'L' flag with a str pattern", Some(3)),
    ("(?t:a)", "bad inline flags: cannot turn on global flag", Some(3)),
    ("(?t)a*", "internal: unsupported template operator MAX_REPEAT", None),
    ("(?-a:b)", "bad inline flags: cannot turn off flags 'a', 'u' and 'L'", Some(4)),
    ("(?iz)", "unknown flag", Some(3)),
    ("(?i:a", "missing ), unterminated subpattern", Some(0)),
    ("\\8", "invalid group reference 8", Some(1)),
    ("\\1", "invalid group reference 1", Some(1)),
    ("(\\1)", "cannot refer to an open group", Some(1)),
    ("(?P<n>(?P=n))", "cannot refer to an open group", Some(10)),
    ("\\400", "octal escape value \\400 outside of range 0-0o377", Some(0)),
    ("[\\400]", "octal escape value \\400 outside of range 0-0o377", Some(1)),
    ("[\\8]", "bad escape \\8", Some(1)),
    ("\\x1", "incomplete escape \\x1", Some(0)),
    ("\\u12", "incomplete escape \\u12", Some(0)),
    ("\\U0011", "incomplete escape \\U0011", Some(0)),
    ("\\U00110000", "bad escape \\U00110000", Some(0)),
    ("\\N", "missing {", Some(2)),
    ("\\N{", "missing character name", Some(3)),
    ("\\N{}", "missing character name", Some(3)),
    ("\\N{NO SUCH NAME}", "undefined character name 'NO SUCH NAME'", Some(0)),
    ("\\N{SHAKING FACE}", "undefined character name 'SHAKING FACE'", Some(0)),
    ("a{2,1}", "min repeat greater than max repeat", Some(2)),
    ("a{4294967295}", "the repetition number is too large", None),
    ("(a)(?(1)b", "missing ), unterminated subpattern", Some(3)),
    ("d)", "unbalanced parenthesis", Some(1)),
    ("(?(0)a)", "bad group number", Some(3)),
    ("(?(x)a)", "unknown group name 'x'", Some(3)),
    ("(?(", "missing group name", Some(3)),
    ("(?()a)", "missing group name", Some(3)),
    ("(?(1a)b)", "bad character in group name '1a'", Some(3)),
    ("(?<=(a)\\1)b", "cannot refer to group defined in the same lookbehind subpattern", Some(9)),
    ("(?<=(?(1)a", "cannot refer to an open group", Some(9)),
    ("b))(c)", "unbalanced parenthesis", Some(1)),
    ("(?a)(?u)b", "ASCII and UNICODE flags are incompatible", None),
    ("a(?#c)(?x)", "global flags not at the start of the expression", Some(6)),
    ("(?:a(?i))", "global flags not at the start of the expression", Some(4)),
    ("(?=a)(?i)", "global flags not at the start of the expression", Some(5)),
    ("(?<=a|bc)d", "look-behind requires fixed-width pattern", None),
    ("(a)(?(1)b|c|d)", "conditional backref with more than two branches", Some(11)),
    ("(?<=(?(1)a|b))(c)", "cannot refer to an open group", Some(9)),
    ("a|*", "nothing to repeat", Some(2)),
    ("|(?i)", "global flags not at the start of the expression", Some(1)),
    ("(?<=(a)|bb)c", "look-behind requires fixed-width pattern", None),
    ("(?<=(a)(?(1)b|c))d", "cannot refer to group defined in the same lookbehind subpattern", Some(12)),
    ("((a)|b\\1)", "cannot refer to an open group", Some(6)),
];

/// Start and end of a match, in bytes.
type Span = Option<(usize, usize)>;

/// Patterns, whether case is ignored, texts, and the span of `re.search` in bytes.
#[rustfmt::skip]
const SEARCHED: &[(&str, bool, &str, Span)] = &[
    ("(?<=a)b", KEEP, "ab", Some((1, 2))),
    ("(?<!a)b", KEEP, "ab", None),
    ("a(?=b)", KEEP, "ab", Some((0, 1))),
    ("a(?!b)", KEEP, "ab", None),
    ("(?<=ab|cd)e", KEEP, "cde", Some((2, 3))),
    ("(a)\\1", KEEP, "aa", Some((0, 2))),
    ("(?P<n>a)(?P=n)", KEEP, "aa", Some((0, 2))),
    ("(a)?\\1b", KEEP, "b", None),
    ("(<)?a(?(1)>|!)", KEEP, "<a>", Some((0, 3))),
    ("(<)?a(?(1)>|!)", KEEP, "a!", Some((0, 2))),
    ("(?P<n><)?a(?(n)>)", KEEP, "<a", Some((1, 2))),
    ("(?(1)a|b)(c)", KEEP, "bc", Some((0, 2))),
    ("a++a", KEEP, "aaa", None),
    ("a++b", KEEP, "aaab", Some((0, 4))),
    ("a?+a", KEEP, "a", None),
    ("a{1,2}+a", KEEP, "aa", None),
    ("a*+a", KEEP, "aa", None),
    ("(?:ab)++a", KEEP, "ababa", Some((0, 5))),
    ("(?>a+)a", KEEP, "aaa", None),
    ("(?>a|ab)c", KEEP, "abc", None),
    ("(?>a+)b", KEEP, "aab", Some((0, 3))),
    ("a\\Z", KEEP, "a\n", None),
    ("a\\Z", KEEP, "a", Some((0, 1))),
    ("a$", KEEP, "a\n", Some((0, 1))),
    ("a$", KEEP, "a\nb", None),
    ("a$", KEEP, "a\n\n", None),
    ("^$", KEEP, "\n", Some((0, 0))),
    ("$", KEEP, "\n", Some((0, 0))),
    ("a$\n", KEEP, "a\n", Some((0, 2))),
    ("a$\\n$", KEEP, "a\n", Some((0, 2))),
    ("(?:a$)+", KEEP, "a\n", Some((0, 1))),
    ("a$|a\\n", KEEP, "a\n", Some((0, 1))),
    ("(a|b$)", KEEP, "b\n", Some((0, 1))),
    ("a$b", KEEP, "a\n", None),
    ("(?m)a$", KEEP, "a\nb", Some((0, 1))),
    ("(?m)^b$", KEEP, "a\nb\n", Some((2, 3))),
    ("(?m)^", KEEP, "\n", Some((0, 0))),
    ("\\Aa", KEEP, "ba", None),
    ("(?m)\\Ab", KEEP, "a\nb", None),
    ("(?i)a", KEEP, "A", Some((0, 1))),
    ("(?i:a)b", KEEP, "AB", None),
    ("a(?i:b)", KEEP, "aB", Some((0, 2))),
    ("(?i)a(?-i:b)", KEEP, "AB", None),
    ("(?i)a(?-i:b)", KEEP, "Ab", Some((0, 2))),
    ("(?s)a.b", KEEP, "a\nb", Some((0, 3))),
    ("a.b", KEEP, "a\nb", None),
    ("a(?s:.)b", KEEP, "a\nb", Some((0, 3))),
    ("(?m)^b", KEEP, "a\nb", Some((2, 3))),
    ("(?x) a  b # c", KEEP, "ab", Some((0, 2))),
    ("(?x)a\\ b", KEEP, "a b", Some((0, 3))),
    ("(?x)[ ]", KEEP, "  ", Some((0, 1))),
    ("(?x)a #c\n b", KEEP, "ab", Some((0, 2))),
    ("(?u)\\w", KEEP, "\u{e9}", Some((0, 2))),
    ("(?a)\\w", KEEP, "\u{e9}", None),
    ("(?a)\\W", KEEP, "\u{e9}", Some((0, 2))),
    ("(?a:\\d)", KEEP, "\u{663}", None),
    ("\\d", KEEP, "\u{663}", Some((0, 2))),
    ("(?a)\\s", KEEP, "\u{1c}", None),
    ("(?a)\\b\u{e9}", KEEP, "\u{e9}", None),
    ("(?ai)k", KEEP, "\u{212a}", None),
    ("(?ai)k", KEEP, "K", Some((0, 1))),
    ("a(?#comment)b", KEEP, "ab", Some((0, 2))),
    ("a(?#c)*", KEEP, "aaa", Some((0, 3))),
    ("a{,2}", KEEP, "aaa", Some((0, 2))),
    ("a{,}", KEEP, "aaa", Some((0, 3))),
    ("a{", KEEP, "xa{y", Some((1, 3))),
    ("a{x}", KEEP, "a{x}", Some((0, 4))),
    ("{\"a\": 1}", KEEP, "{\"a\": 1}", Some((0, 8))),
    ("a{1 ,2}", KEEP, "a{1 ,2}", Some((0, 7))),
    ("a{1 ,2}", KEEP, "aa", None),
    ("a{2", KEEP, "a{2", Some((0, 3))),
    ("a{}", KEEP, "a{}", Some((0, 3))),
    ("a{1,2}?", KEEP, "aa", Some((0, 1))),
    ("a{2,}", KEEP, "aaa", Some((0, 3))),
    ("{", KEEP, "{", Some((0, 1))),
    ("x{1}{", KEEP, "x{", Some((0, 2))),
    ("\\u00e9", KEEP, "\u{e9}", Some((0, 2))),
    ("\\U0001F600", KEEP, "\u{1f600}", Some((0, 4))),
    ("\\x41", KEEP, "A", Some((0, 1))),
    ("\\N{BULLET}", KEEP, "\u{2022}", Some((0, 3))),
    ("\\N{bullet}", KEEP, "\u{2022}", Some((0, 3))),
    ("[\\N{EM DASH}]", KEEP, "\u{2014}", Some((0, 3))),
    ("\\0", KEEP, "\u{0}", Some((0, 1))),
    ("\\012", KEEP, "\n", Some((0, 1))),
    ("\\101", KEEP, "A", Some((0, 1))),
    ("\\07", KEEP, "\u{7}", Some((0, 1))),
    ("\\<a", KEEP, "<a", Some((0, 2))),
    ("\\\u{e9}", KEEP, "\u{e9}", Some((0, 2))),
    ("\\_", KEEP, "_", Some((0, 1))),
    ("\\-\\/", KEEP, "-/", Some((0, 2))),
    ("\\a\\f\\v", KEEP, "\u{7}\u{c}\u{b}", Some((0, 3))),
    ("[[a]", KEEP, "[", Some((0, 1))),
    ("[\\b]", KEEP, "\u{8}", Some((0, 1))),
    ("[a&&b]", KEEP, "&", Some((0, 1))),
    ("[!--]", KEEP, "-", Some((0, 1))),
    ("[a~~b]", KEEP, "~", Some((0, 1))),
    ("[[:alpha:]]", KEEP, "p]", Some((0, 2))),
    ("[[:alpha:]]", KEEP, "z", None),
    ("[]a]", KEEP, "]", Some((0, 1))),
    ("[^]a]", KEEP, "]b", Some((1, 2))),
    ("[a-]", KEEP, "-", Some((0, 1))),
    ("[-a]", KEEP, "-", Some((0, 1))),
    ("[\\d-]", KEEP, "-", Some((0, 1))),
    ("[^\\d]", KEEP, "1a", Some((1, 2))),
    ("[a||b]", KEEP, "|", Some((0, 1))),
    ("(?=a)*b", KEEP, "b", Some((0, 1))),
    ("(?:^)*a", KEEP, "a", Some((0, 1))),
    ("()*a", KEEP, "a", Some((0, 1))),
    ("(?:)*", KEEP, "a", Some((0, 0))),
    ("(a*)*b", KEEP, "aab", Some((0, 3))),
    ("(a*)+", KEEP, "aa", Some((0, 2))),
    ("(|a)+", KEEP, "aa", Some((0, 0))),
    ("(?:a|ab)(?:c|bcd)", KEEP, "abcd", Some((0, 4))),
    ("a|ab", KEEP, "ab", Some((0, 1))),
    ("ab|a", KEEP, "ab", Some((0, 2))),
    ("a*?b", KEEP, "aab", Some((0, 3))),
    ("a+?", KEEP, "aa", Some((0, 1))),
    ("a??b", KEEP, "ab", Some((0, 2))),
    ("(?:a{2}){2}", KEEP, "aaaaa", Some((0, 4))),
    ("\\w{1000}", KEEP, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", Some((0, 1000))),
    ("\\w", KEEP, "\u{301}", None),
    ("\\w", KEEP, "\u{203f}", None),
    ("\\w", KEEP, "\u{200d}", None),
    ("\\w", KEEP, "\u{24d0}", None),
    ("\\w", KEEP, "\u{b2}", Some((0, 2))),
    ("\\w", KEEP, "\u{bd}", Some((0, 2))),
    ("\\w", KEEP, "\u{65e5}", Some((0, 3))),
    ("\\w+", KEEP, "na\u{ef}ve\u{65e5}", Some((0, 9))),
    ("\\w+", KEEP, "e\u{301}a", Some((0, 1))),
    ("e\\b", KEEP, "e\u{301}", Some((0, 1))),
    ("e\\B", KEEP, "e\u{301}", None),
    ("\\bfoo\\b", KEEP, "a foo.", Some((2, 5))),
    ("\\Bo", KEEP, "foo", Some((1, 2))),
    ("\\B", KEEP, "", None),
    ("\\b", KEEP, "", None),
    ("\\B", KEEP, "a", None),
    ("\\s", KEEP, "\u{1c}", Some((0, 1))),
    ("\\s", KEEP, "\u{3000}", Some((0, 3))),
    ("\\S", KEEP, "\u{1f}", None),
    (".", KEEP, "\r", Some((0, 1))),
    (".", KEEP, "\u{2028}", Some((0, 3))),
    (".", KEEP, "\u{85}", Some((0, 2))),
    (".", KEEP, "\n", None),
    ("\\ud800", KEEP, "a", None),
    ("[^\\ud800]", KEEP, "a", Some((0, 1))),
    ("", KEEP, "abc", Some((0, 0))),
    ("\\W", KEEP, "_", None),
    ("(?s:.)+", KEEP, "a\n", Some((0, 2))),
    ("x*", KEEP, "aaa", Some((0, 0))),
    ("i", IGNORE, "\u{131}", Some((0, 2))),
    ("i", IGNORE, "\u{130}", Some((0, 2))),
    ("\u{131}", IGNORE, "I", Some((0, 1))),
    ("\u{130}", IGNORE, "\u{131}", Some((0, 2))),
    ("s", IGNORE, "\u{17f}", Some((0, 2))),
    ("k", IGNORE, "\u{212a}", Some((0, 3))),
    ("\u{b5}", IGNORE, "\u{3bc}", Some((0, 2))),
    ("\u{3c2}", IGNORE, "\u{3a3}", Some((0, 2))),
    ("\u{fb05}", IGNORE, "\u{fb06}", Some((0, 3))),
    ("\u{df}", IGNORE, "SS", None),
    ("\u{df}", IGNORE, "\u{1e9e}", Some((0, 3))),
    ("\u{1c5}", IGNORE, "\u{1c6}", Some((0, 2))),
    ("[a-z]", IGNORE, "K", Some((0, 1))),
    ("[a-z]", IGNORE, "\u{212a}", Some((0, 3))),
    ("[i]", IGNORE, "\u{130}", Some((0, 2))),
    ("[^i]", IGNORE, "\u{130}", None),
    ("[^i]", IGNORE, "\u{131}", None),
    ("[^x]", IGNORE, "X", None),
    ("[^a-z]", IGNORE, "\u{17f}", None),
    ("[\\U00010400]", IGNORE, "\u{10428}", Some((0, 4))),
    ("[\\U00010400x]", IGNORE, "\u{10428}", None),
    ("[\\U00010428x]", IGNORE, "\u{10400}", Some((0, 4))),
    ("[\\U00010400-\\U00010401]", IGNORE, "\u{10428}", Some((0, 4))),
    ("\\U00010400|x", IGNORE, "\u{10428}", None),
    ("[\u{2bc}-\\U00010000]", IGNORE, "\u{149}", Some((0, 2))),
    ("(a)\\1", IGNORE, "aA", Some((0, 2))),
    ("(\u{131})\\1", IGNORE, "\u{131}I", None),
    ("(i)\\1", IGNORE, "i\u{131}", None),
    ("(?-i:a)", IGNORE, "A", None),
    ("[\\d\u{130}]", IGNORE, "I", Some((0, 1))),
    ("\u{3b1}\u{345}", IGNORE, "\u{391}\u{3b9}", Some((0, 4))),
    ("[A-_]", IGNORE, "a", Some((0, 1))),
    ("\u{1c80}", IGNORE, "\u{412}", Some((0, 2))),
];

enum Outcome {
    Found,
    Absent,
    Refused,
}

/// The `regex` and `not_regex` cases of the conformance data, reduced to what the pattern has to say about the text.
#[rustfmt::skip]
const CONFORMANCE: &[(&str, &str, bool, &str, Outcome)] = &[
    ("regex/01-basic", "v\\d+\\.\\d+", IGNORE, "release v1.20", Outcome::Found),
    ("regex/02-ci", "ERROR", IGNORE, "an error occurred", Outcome::Found),
    ("regex/03-ci-false", "ERROR", KEEP, "an error occurred", Outcome::Absent),
    ("regex/04-caret-not-multiline", "^second", IGNORE, "first\nsecond", Outcome::Absent),
    ("regex/05-inline-multiline", "(?m)^second", IGNORE, "first\nsecond", Outcome::Found),
    ("regex/06-dot-not-newline", "a.b", IGNORE, "a\nb", Outcome::Absent),
    ("regex/07-inline-dotall", "(?s)a.b", IGNORE, "a\nb", Outcome::Found),
    ("regex/08-dollar-trailing-newline", "end$", IGNORE, "the end\n", Outcome::Found),
    ("regex/09-Z-anchor", "end\\Z", IGNORE, "the end\n", Outcome::Absent),
    ("regex/10-backreference", "(\\w+) \\1", IGNORE, "the the cat", Outcome::Found),
    ("regex/11-lookbehind", "(?<!un)safe", IGNORE, "unsafe but safe", Outcome::Found),
    ("regex/12-unicode-digit", "\\d", IGNORE, "\u{663}", Outcome::Found),
    ("regex/13-unicode-word", "^\\w+$", IGNORE, "na\u{ef}ve\u{65e5}", Outcome::Found),
    ("regex/14-named-group", "(?P<y>\\d{4})-(?P=y)", IGNORE, "2024-2024", Outcome::Found),
    ("regex/15-value-alias", "al+", IGNORE, "hall", Outcome::Found),
    ("regex/16-invalid", "(unclosed", IGNORE, "x", Outcome::Refused),
    ("regex/18-candidate-zero-width", "ab+c", IGNORE, "abb\u{200b}c", Outcome::Found),
    ("regex/19-possessive", "a++b", IGNORE, "aaab", Outcome::Found),
    ("regex/20-atomic", "(?>a+)b", IGNORE, "aaab", Outcome::Found),
    ("regex/21-conditional", "^(<)?a(?(1)>)$", IGNORE, "<a>", Outcome::Found),
    ("regex/22-ci-kelvin", "k", IGNORE, "\u{212a}", Outcome::Found),
    ("regex/23-inline-flag-not-at-start", "a(?i)b", IGNORE, "aB", Outcome::Refused),
    ("regex/24-scoped-flag", "a(?i:b)", KEEP, "aB", Outcome::Found),
    ("not_regex/01-absent", "rm\\s+-rf", IGNORE, "ls -la", Outcome::Absent),
    ("not_regex/02-present", "rm\\s+-rf", IGNORE, "RM   -rf /", Outcome::Found),
    ("not_regex/03-ci-false", "RM", KEEP, "rm", Outcome::Absent),
    ("not_regex/04-empty-output", "x", IGNORE, "", Outcome::Absent),
    ("not_regex/05-value-alias", "bad", IGNORE, "bad idea", Outcome::Found),
    ("not_regex/06-invalid", "[z-a]", IGNORE, "x", Outcome::Refused),
    ("not_regex/07-zero-width", "secret", IGNORE, "sec\u{200b}ret", Outcome::Found),
    ("regex/25-dotless-i", "i", IGNORE, "\u{131}", Outcome::Found),
    ("regex/26-capital-dotted-I", "i", IGNORE, "\u{130}", Outcome::Found),
    ("regex/27-long-s", "S", IGNORE, "\u{17f}", Outcome::Found),
    ("regex/28-class-literal-bracket", "[[]x", IGNORE, "[x", Outcome::Found),
    ("regex/29-class-no-intersection", "^[a&&b]+$", IGNORE, "a&b", Outcome::Found),
    ("regex/30-literal-brace", "a{", IGNORE, "xa{y", Outcome::Found),
    ("regex/31-open-quantifier", "^a{,2}$", IGNORE, "aa", Outcome::Found),
    ("regex/32-variable-lookbehind", "(?<=a+)b", IGNORE, "aab", Outcome::Refused),
    ("regex/33-verbose", "(?x) foo  bar # c", IGNORE, "foobar", Outcome::Found),
    ("regex/34-ws-fs", "a\\sb", IGNORE, "a\u{1c}b", Outcome::Found),
    ("regex/35-unicode-escape", "\\u00e9", IGNORE, "caf\u{e9}", Outcome::Found),
    ("regex/36-bad-escape", "\\y", IGNORE, "y", Outcome::Refused),
    ("regex/37-crlf-normalised", "a\\r\\nb", IGNORE, "a\r\nb", Outcome::Absent),
    ("regex/39-multiple-repeat", "a**", IGNORE, "a", Outcome::Refused),
    ("regex/40-ascii-flag", "(?a)^\\w+$", IGNORE, "na\u{ef}ve", Outcome::Absent),
];

fn search(pattern: &str, text: &str) -> Search {
    Pattern::parse(pattern, KEEP).unwrap().search(text)
}

#[test]
fn refuses_what_python_refuses_in_its_words() {
    for &(pattern, reason, position) in REFUSED {
        let error = Pattern::parse(pattern, KEEP).expect_err(pattern);
        assert_eq!((error.reason.as_str(), error.position), (reason, position), "{pattern}");
    }
}

#[test]
fn finds_what_python_finds() {
    for &(pattern, ignore_case, text, span) in SEARCHED {
        let compiled = Pattern::parse(pattern, ignore_case).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        let expected = span.map_or(Search::NoMatch, |(start, end)| Search::Match(start..end));
        assert_eq!(compiled.search(text), expected, "{pattern} on {text:?}");
        assert_eq!(compiled.search_backtracking(text), expected, "{pattern} on {text:?}, backtracking");
        match compiled.search_linear(text) {
            Err(_) => {}
            Ok(Search::Match(range)) => {
                assert_eq!(Some(range.start), span.map(|(start, _)| start), "{pattern}, linear")
            }
            Ok(decided) => assert_eq!(decided, expected, "{pattern} on {text:?}, linear"),
        }
    }
}

#[test]
fn agrees_with_the_conformance_data() {
    for (id, pattern, ignore_case, text, outcome) in CONFORMANCE {
        let text = universal_newlines(text);
        let view = Comparison::Rendered.view(&text);
        let found = Pattern::parse(pattern, *ignore_case).map(|pattern| pattern.search(&view.text));
        let agrees = match outcome {
            Outcome::Found => matches!(found, Ok(Search::Match(_))),
            Outcome::Absent => found == Ok(Search::NoMatch),
            Outcome::Refused => found.is_err(),
        };
        assert!(agrees, "{id}: {found:?}");
    }
}

#[test]
fn errors_read_like_pythons() {
    let error = Pattern::parse("a(b", KEEP).unwrap_err();
    assert_eq!(error.to_string(), "missing ), unterminated subpattern at position 1");
    let error = Pattern::parse("(?<=a+)b", KEEP).unwrap_err();
    assert_eq!(error.to_string(), "look-behind requires fixed-width pattern");
    // Positions are code points.
    assert_eq!(Pattern::parse("é日(", KEEP).unwrap_err().position, Some(2));
}

#[test]
fn nesting_is_bounded() {
    let nested = |open: &str, depth: usize| format!("{}a{}", open.repeat(depth), ")".repeat(depth));
    for open in ["(", "(?:", "(?=", "(?>", "(?:b|"] {
        let deep = Pattern::parse(&nested(open, 200), KEEP).unwrap();
        assert!(matches!(deep.search("xa"), Search::Match(_)), "{open}");
        let error = Pattern::parse(&nested(open, 201), KEEP).unwrap_err();
        assert_eq!(error.reason, "too deeply nested");
    }
    let conditions = format!("(x)?{}a{}", "(?(1)b|".repeat(201), ")".repeat(201));
    assert_eq!(Pattern::parse(&conditions, KEEP).unwrap_err().reason, "too deeply nested");
    assert!(Pattern::parse(&"(".repeat(100_000), KEEP).is_err());
}

#[test]
fn engines_say_what_they_cannot_do() {
    let rows = [
        ("a(?=b)", "ab", NeedsBacktracking::LookAround),
        ("(a)\\1", "aa", NeedsBacktracking::BackReference),
        ("(a)?(?(1)b)", "ab", NeedsBacktracking::Conditional),
        ("(?>a)", "a", NeedsBacktracking::Atomic),
        ("a++", "a", NeedsBacktracking::Possessive),
    ];
    for (pattern, text, obstacle) in rows {
        let pattern = Pattern::parse(pattern, KEEP).unwrap();
        assert!(!pattern.is_linear());
        assert_eq!(pattern.search_linear(text), Err(obstacle));
    }
    let inner = Pattern::parse("(a$)+", KEEP).unwrap();
    assert!(inner.is_linear());
    assert_eq!(inner.search_linear("a\n"), Err(NeedsBacktracking::EndAnchor));
    assert_eq!(inner.search_linear("a"), Ok(Search::Match(0..1)));
    let word = Pattern::parse("\\bfoo\\b", KEEP).unwrap();
    assert_eq!(word.search_linear("naïve foo"), Ok(Search::Match(7..10)));
    assert_eq!(word.search_linear("foo\u{301}"), Ok(Search::Match(0..3)));
    assert_eq!(word.search_linear(""), Err(NeedsBacktracking::WordBoundary));
    let both = Pattern::parse("\\bfoo(?a:\\B)", KEEP).unwrap();
    assert!(!both.is_linear());
    assert_eq!(both.search_linear("fooé"), Err(NeedsBacktracking::WordBoundary));
    let large = Pattern::parse("(?:\\w{1000}){1000}", KEEP).unwrap();
    assert_eq!(large.search_linear("a"), Err(NeedsBacktracking::TooLarge));
    assert_eq!(large.search("a"), Search::NoMatch);
}

#[test]
fn empty_iterations_end_where_pythons_end() {
    let pattern = Pattern::parse("a(?:.{0,1}?){1,}b+", IGNORE).unwrap();
    assert_eq!(pattern.search("aa-cbbbaB"), Search::Match(0..7));
    let Ok(Search::Match(range)) = pattern.search_linear("aa-cbbbaB") else { panic!("no match") };
    assert_eq!(range.start, 0);
}

#[test]
fn catastrophic_patterns_end() {
    let text = "a".repeat(5_000);
    assert_eq!(search("(a*)*b", &text), Search::NoMatch);
    assert_eq!(search("(?:a|aa)+$", &format!("{text}b")), Search::NoMatch);
    assert_eq!(search("(a|aa)+\\1c", &format!("{text}bc")), Search::BudgetExceeded);
    assert_eq!(search("(?=(?:){4294967294})", ""), Search::BudgetExceeded);
}

#[test]
fn look_ahead_for_what_a_long_text_lacks_is_cheap() {
    let text = "a retry without the other word\n".repeat(3_000);
    assert_eq!(search("(?s)(?=.*retry)(?=.*backoff)", &text), Search::NoMatch);
    assert_eq!(search("(?s)(?=.*retry)(?!.*backoff)", &text), Search::Match(0..0));
    assert_eq!(search("(\\w+) \\1 backoff", &text), Search::NoMatch);
    assert_eq!(search("other (?=word$)", &text), Search::Match(92_989..92_995));
}

#[test]
fn long_texts_need_no_recursion() {
    let text = "ab".repeat(100_000);
    assert_eq!(search("(?=a)(?:ab)*$", &text), Search::Match(0..200_000));
    assert_eq!(search("(?s)(?=a).*b(?!.)", &text), Search::Match(0..200_000));
    assert_eq!(search("(?:a(?=b)b)*?$", &text), Search::Match(0..200_000));
}

#[test]
fn patterns_are_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    let pattern = Pattern::parse("(\\d+)-\\1", KEEP).unwrap();
    shared(&pattern);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(pattern.search("x 12-12"), Search::Match(2..7)));
        }
    });
    assert_eq!(pattern.source(), "(\\d+)-\\1");
}
