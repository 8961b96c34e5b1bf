//! `suite generate`: from the description of a skill to a starter eval set.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::support::{Said, Workspace};

/// A workspace with a skill `skills/alpha`.
fn with_skill(text: impl AsRef<[u8]>) -> Workspace {
    let workspace = Workspace::new();
    workspace.write("skills/alpha/SKILL.md", text);
    workspace
}

fn generate(text: impl AsRef<[u8]>) -> Said {
    with_skill(text).run(&["suite", "generate", "skills/alpha"])
}

fn set(text: &str) -> Value {
    let said = generate(text);
    assert_eq!(said.code, 0, "{}", said.stderr);
    said.json()
}

fn prompts(set: &Value) -> Vec<&str> {
    set["evals"].as_array().unwrap().iter().map(|eval| eval["prompt"].as_str().unwrap()).collect()
}

/// The only line of standard error of a refused skill.
fn refused(text: impl AsRef<[u8]>) -> String {
    let said = generate(text);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{}", said.stderr);
    said.stderr
}

const ALPHA: &str = "---\nname: alpha\ndescription: Builds reports. Use when user says \"make report\" or \"weekly digest\"\n---\n# Alpha\n";

#[test]
fn the_reference_example() {
    let set = set(ALPHA);
    // The format's own generator finds 1 phrase, since it strips the last quote of the value, and 6 keywords: builds,
    // reports, make, report, weekly, digest. Here: 2 phrases; keywords reports (from the text), weekly digest (from a
    // phrase); builds and make are verbs, report is the singular of reports. So 2 + 2 positives, where it has 1 + 5.
    let expected = json!({
        "trigger_phrases_found": 2,
        "keywords_found": 2,
        "headings_found": 1,
        "total_evals": 14,
        "should_trigger_count": 4,
        "should_not_trigger_count": 10
    });
    assert_eq!(set["metadata"], expected);
    assert_eq!(
        prompts(&set)[..4],
        [
            "I need help with something: make report",
            "Here's my request: weekly digest",
            "Hey, I could use a hand with reports. Where do we start?",
            "I've been putting off weekly digest all week. Can you help me get through it now?",
        ]
    );
}

#[test]
fn the_structure_is_that_of_the_format() {
    let set = set(ALPHA);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&set), ["skill_name", "skill_path", "generated_from", "evals", "metadata"]);
    assert_eq!((&set["skill_name"], &set["skill_path"]), (&json!("alpha"), &json!("skills/alpha")));
    assert_eq!(set["generated_from"], "description + instructions");
    let evals = set["evals"].as_array().unwrap();
    let ids: Vec<u64> = evals.iter().map(|eval| eval["eval_id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (0..4).chain(100..110).collect::<Vec<u64>>());
    let names: Vec<&str> = evals.iter().map(|eval| eval["eval_name"].as_str().unwrap()).collect();
    assert_eq!(names[..4], ["trigger-direct-0", "trigger-direct-1", "trigger-casual-2", "trigger-casual-3"]);
    assert_eq!((names[4], names[13]), ("no-trigger-near-miss-0", "no-trigger-near-miss-9"));
    for eval in evals {
        assert_eq!(keys(eval), ["eval_id", "eval_name", "prompt", "input_files", "assertions", "should_trigger"]);
        let is_positive = eval["eval_id"].as_u64().unwrap() < 100;
        assert_eq!(eval["should_trigger"], is_positive);
        assert_eq!(eval["input_files"], json!([]));
        let assertion = &eval["assertions"][0];
        assert_eq!(keys(assertion), ["name", "check", "weight"]);
        assert_eq!(assertion["name"], if is_positive { "skill-activated" } else { "skill-not-activated" });
        assert_eq!(assertion["weight"], 1.0);
        assert!(!eval["prompt"].as_str().unwrap().to_lowercase().contains("skill"), "{eval}");
    }
}

const INVOICES: &str = r#"---
name: invoice-desk
description: >-
  Checks supplier invoices against purchase orders, finds duplicate payments and drafts reminder letters.
  Use when the user says "check this invoice", "Where is my refund?" or
  "match invoices with orders", or asks about overdue payments in CSV exports. Do not use for "payroll".
metadata:
  description: not this one
allowed-tools:
  - Read
---

# Invoice desk

```sh
# no heading
```

## Steps
"#;

#[test]
fn a_whole_set() {
    let said = generate(INVOICES);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    insta::assert_snapshot!("starter_set_of_an_invoice_skill", said.stdout);
    let set = said.json();
    let unique: BTreeSet<&str> = prompts(&set).into_iter().collect();
    assert_eq!(unique.len(), prompts(&set).len());
}

#[test]
fn every_way_to_write_a_description_gives_the_same_set() {
    let whole = set("---\nname: a\ndescription: 'Drafts \"thank-you notes\" for hosts. Say \"write a note\"'\n---\n");
    assert_eq!(whole["metadata"]["trigger_phrases_found"], 2);
    for description in [
        r#""Drafts \"thank-you notes\" for hosts. Say \"write a note\"""#,
        ">\n  Drafts \"thank-you notes\"\n  for hosts. Say \"write\n  a note\"",
        ">-\n  Drafts \"thank-you notes\"\n  for hosts. Say \"write a note\"",
        ">+\n  Drafts \"thank-you notes\"\n  for hosts. Say \"write a note\"\n\n",
        "|\n  Drafts \"thank-you notes\" for hosts.\n  Say \"write a note\"",
        "Drafts \"thank-you notes\" for hosts.\n  Say \"write a note\"",
    ] {
        let text = format!("\u{feff}---\r\nname: a\nother: {{description: x}}\ndescription: {description}\n---\n");
        assert_eq!(set(&text), whole, "{description}");
    }
}

#[test]
fn without_keywords_the_near_misses_still_read_well() {
    // empty, missing, only stop words and verbs, and letters that are not Latin
    for (description, positives) in [
        ("description:\n", 0),
        ("", 0),
        ("description: Use this when you want to build and create\n", 0),
        ("description: 週報を作成します。「週報」と言われたら使う\n", 0),
        ("description: Составляет отчёты. Используй для \"недельный отчёт\"\n", 1),
    ] {
        let said = generate(format!("---\nname: alpha\n{description}---\n"));
        let set = said.json();
        assert_eq!(set["metadata"]["should_trigger_count"], positives, "{description}");
        assert_eq!(set["metadata"]["keywords_found"], 0);
        assert_eq!(set["metadata"]["should_not_trigger_count"], 10);
        let first =
            "Can you explain to me in a few sentences what people mean by this? I only want to understand the term.";
        assert_eq!(prompts(&set)[positives], first);
        assert_eq!(said.lines("WARN few_positives: ").len(), 1, "{}", said.stderr);
        assert!(said.stderr.contains("between double quotes"), "{}", said.stderr);
    }
}

#[test]
fn a_skill_without_a_name_is_called_like_its_folder() {
    assert_eq!(set("---\ndescription: x\n---\n")["skill_name"], "alpha");
}

#[test]
fn the_same_phrase_makes_one_eval() {
    let set = set("---\ndescription: Says \"My Report\", \"my  report\", \"my report.\" and \"MY REPORT\"\n---\n");
    assert_eq!(set["metadata"]["trigger_phrases_found"], 1);
    // what already speaks for the user stands alone
    assert_eq!(prompts(&set)[0], "My Report");
}

#[test]
fn near_misses_that_the_skill_may_be_for_are_named() {
    let said = generate("---\ndescription: Reviews pull requests. Do not use for refactoring\n---\n");
    let about = said.lines("WARN near_miss_on_topic: ");
    assert_eq!(about.len(), 1, "{}", said.stderr);
    assert!(about[0].contains("no-trigger-near-miss-8 ") && about[0].contains("(review)"), "{}", about[0]);
}

#[test]
fn front_matter_that_cannot_be_used_is_refused_with_its_line() {
    for (text, beginning) in [
        ("# Alpha\n", "FAIL: skills/alpha/SKILL.md:1: no front matter; "),
        ("---\nname: alpha\n", "FAIL: skills/alpha/SKILL.md:1: the front matter does not end; "),
        ("---\n---\n", "FAIL: skills/alpha/SKILL.md:1: the front matter is empty; "),
        ("---\nname: a\nname: b\n---\n", "FAIL: skills/alpha/SKILL.md:3: `name` is given twice; remove one of them\n"),
        (
            "---\nname: a\ndescription: Use when: x\n---\n",
            "FAIL: skills/alpha/SKILL.md:3: the front matter is not valid YAML: ",
        ),
    ] {
        let said = refused(text);
        assert!(said.starts_with(beginning), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    assert_eq!(
        refused(b"---\nname: \xff\n---\n"),
        "FAIL: skills/alpha/SKILL.md:2: not valid UTF-8; save the file as UTF-8\n"
    );
}

#[test]
fn hostile_front_matter_is_refused() {
    let ten_mebibytes = "a".repeat(10 << 20);
    let large = refused(format!("---\nname: {ten_mebibytes}\n---\n"));
    assert!(large.contains("is larger than 4194304 bytes; raise --max-skill-mib"), "{large}");
    let mut laughs = "---\na: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (one, next) in "abcdefghi".chars().zip("bcdefghij".chars()) {
        laughs += &format!("{next}: &{next} [{}]\n", vec![format!("*{one}"); 9].join(","));
    }
    let laughs = refused(laughs + "---\n");
    assert!(laughs.contains("too deeply or has too many parts"), "{laughs}");
    let deep = refused(format!("---\nx: {}\n---\n", "[".repeat(60_000)));
    assert!(deep.contains("too deeply"), "{deep}");
    // with the limit raised, the front matter still has one
    let workspace = with_skill(format!("---\nname: {ten_mebibytes}\n---\n"));
    let said = workspace.run(&["suite", "generate", "skills/alpha", "--max-skill-mib", "20"]);
    assert!(said.stderr.contains("the front matter is larger than 64 KiB"), "{}", said.stderr);
    // what a terminal would obey is made visible
    let said = set("---\nname: \"a\\e[31m\"\ndescription: x\n---\n");
    assert_eq!(said["skill_name"], "a\u{1b}[31m");
}

#[test]
fn the_file_must_be_the_skills_own() {
    let workspace = Workspace::new();
    let fails = |message: &str| {
        let said = workspace.run(&["suite", "generate", "skills/alpha"]);
        assert_eq!((said.code, said.stdout.as_str()), (1, ""));
        assert!(said.stderr.contains(message), "{}", said.stderr);
    };
    fails("FAIL: no such folder: skills/alpha");
    let folder = workspace.path().join("skills/alpha");
    fs::create_dir_all(folder.join("SKILL.md")).unwrap();
    fails("FAIL: skills/alpha/SKILL.md is not a file");
    fs::remove_dir(folder.join("SKILL.md")).unwrap();
    fails("FAIL: no SKILL.md in skills/alpha");
    workspace.write("skills/alpha/skill.md", ALPHA);
    fails("FAIL: skills/alpha/skill.md is not found by every agent; rename it to SKILL.md");
    workspace.write("other/SKILL.md", ALPHA);
    symlink(workspace.path().join("other/SKILL.md"), folder.join("SKILL.md")).unwrap();
    fails("FAIL: skills/alpha/SKILL.md is a link out of the folder of the skill");
    // a link within the folder is fine
    fs::remove_file(folder.join("SKILL.md")).unwrap();
    symlink("skill.md", folder.join("SKILL.md")).unwrap();
    assert_eq!(workspace.run(&["suite", "generate", "skills/alpha"]).code, 0);
    let said = workspace.run(&["suite", "generate", "skills/alpha/SKILL.md"]);
    assert!(said.stderr.contains("is a file; name the folder of the skill"), "{}", said.stderr);
}

#[test]
fn a_file_is_written_whole_and_never_replaced_unasked() {
    let workspace = with_skill(INVOICES);
    let write = |more: &[&str]| {
        let mut arguments = vec!["suite", "generate", "skills/alpha/", "--output", "new/evals/evals.json"];
        arguments.extend_from_slice(more);
        workspace.run(&arguments)
    };
    let said = write(&[]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    // 3 phrases and 5 of the keywords
    assert_eq!(said.stdout, "wrote new/evals/evals.json: 18 evals (8 should trigger, 10 should not)\n");
    let path = workspace.path().join("new/evals/evals.json");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.ends_with("}\n"));
    let set: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(set["skill_path"], "../../skills/alpha");

    fs::write(&path, "mine").unwrap();
    let said = write(&[]);
    assert_eq!(said.stderr, "FAIL: new/evals/evals.json exists; --force replaces it\n");
    assert_eq!((said.code, fs::read_to_string(&path).unwrap()), (1, "mine".to_owned()));
    assert_eq!(write(&["--force"]).code, 0);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing else is left there");
}

#[test]
fn the_path_of_the_skill_starts_where_the_file_is() {
    let workspace = with_skill(ALPHA);
    for (file, path) in
        [("evals.json", "./skills/alpha"), ("skills/alpha/evals/evals.json", ".."), ("skills/e.json", "./alpha")]
    {
        assert_eq!(workspace.run(&["suite", "generate", "skills/alpha", "-o", file]).code, 0);
        let set: Value = serde_json::from_str(&fs::read_to_string(workspace.path().join(file)).unwrap()).unwrap();
        assert_eq!(set["skill_path"], path, "{file}");
    }
    let said = workspace.run(&["suite", "generate", "./skills/alpha"]);
    assert_eq!(said.json()["skill_path"], "./skills/alpha");
}

#[test]
fn arguments() {
    let workspace = with_skill(ALPHA);
    assert_eq!(workspace.run(&["suite"]).code, 2);
    assert_eq!(workspace.run(&["suite", "generate"]).code, 2);
    assert_eq!(workspace.run(&["suite", "generate", "skills/alpha", "--force"]).code, 2);
    let help = workspace.run(&["suite", "generate", "--help"]);
    assert!(
        help.stdout.contains("skill-lift suite generate skills/my-skill --output evals/evals.json"),
        "{}",
        help.stdout
    );
}
