//! Texts that the strict reader takes, and what it says about the others.

use super::*;

fn kinds(text: &str) -> Vec<(JsonErrorKind, String)> {
    read(text, Limits { depth: 3 }).errors.into_iter().map(|e| (e.kind, e.path)).collect()
}

#[test]
fn reads_values_with_spans() {
    let text = "\u{feff} {\"a\": [1, -2.5e3, \"x\\u00e9\\ud83d\\ude00\"], \"b\": null}";
    let node = parse(text, Limits::SUITE).unwrap();
    let items = node.get("a").unwrap().items().unwrap();
    assert_eq!(items[0].as_number().unwrap().as_i64(), Some(1));
    assert_eq!(items[1].as_number().unwrap().as_f64(), -2500.0);
    assert_eq!(items[2].as_str(), Some("xé😀"));
    let span = items[1].span;
    assert_eq!(&text[span.start..span.end], "-2.5e3");
    assert_eq!(node.python_repr(), "{'a': [1, -2500.0, 'xé😀'], 'b': None}");
}

#[test]
fn recoverable_problems_are_all_reported_with_their_paths() {
    assert_eq!(
        kinds(r#"{"a": {"k": NaN, "k": 2}, "b": [1e999, "\ud800"]}"#),
        vec![
            (JsonErrorKind::NotFinite, "$.a.k".to_owned()),
            (JsonErrorKind::DuplicateKey("k".to_owned()), "$.a".to_owned()),
            (JsonErrorKind::NotFinite, "$.b[0]".to_owned()),
            (JsonErrorKind::LoneSurrogate, "$.b[1]".to_owned()),
        ]
    );
}

#[test]
fn the_last_of_two_equal_keys_counts_also_in_large_objects() {
    let keys: Vec<_> = (0..40).map(|i| format!("\"k{i}\": {i}")).collect();
    let text = format!("{{{}, \"k3\": 99}}", keys.join(", "));
    let document = read(&text, Limits::SUITE);
    assert_eq!(document.errors.len(), 1);
    let root = document.root.unwrap();
    assert_eq!(root.members().unwrap().len(), 40);
    assert_eq!(root.get("k3").unwrap().as_number().unwrap().as_i64(), Some(99));
}

#[test]
fn syntax_errors_stop_the_reading() {
    for text in [
        "",
        "{",
        "[1,]",
        "{\"a\" 1}",
        "{'a': 1}",
        "01",
        "1.",
        "+1",
        "\"a\nb\"",
        "\"\\x\"",
        "\"abc",
        "1 2",
        "\\",
        "\"\\u12\"",
        "tru",
        "-",
    ] {
        let document = read(text, Limits::SUITE);
        assert!(document.root.is_none(), "{text:?}");
        assert!(matches!(document.errors[0].kind, JsonErrorKind::Syntax(_)), "{text:?}");
    }
}

#[test]
fn nesting_is_bounded() {
    assert!(parse("[[[1]]]", Limits { depth: 3 }).is_ok());
    assert_eq!(kinds("[[[[1]]]]")[0].0, JsonErrorKind::TooDeep(3));
    let error = parse(&"[".repeat(200_000), Limits::SIDECAR).unwrap_err();
    assert_eq!(error.kind, JsonErrorKind::TooDeep(512));
    // the way there is cut
    assert_eq!(error.path, format!("${}…", "[0]".repeat(24)));
}

#[test]
fn lines_are_numbered_and_blank_lines_skipped() {
    let lines: Vec<_> = parse_lines("{\"a\":1}\r\n\n 2 \n{", Limits::SUITE).map(|(n, r)| (n, r.is_ok())).collect();
    assert_eq!(lines, vec![(1, true), (3, true), (4, false)]);
}
