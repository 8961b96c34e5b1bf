//! The examples of `docs/statistics.md` are run: a page that promises another number than the functions give fails here.
//!
//! An example is a fenced block with the word `example`. Its first line names a function of `functions.rs`, the lines
//! `name: value` are the inputs and the lines `=> name: value` what comes out. A number is compared in the places that the
//! page shows. A value that is withheld is the word for the reason.

mod functions;
mod inputs;

use std::collections::BTreeMap;

use functions::Output;

/// Sections that introduce others and compute nothing.
const WITHOUT_EXAMPLES: [&str; 4] = [
    "The words on this page",
    "What stands where in a report",
    "How the headline was checked",
    "How to read an example",
];

/// One fenced block.
struct Example {
    line: usize,
    section: String,
    function: String,
    inputs: BTreeMap<String, String>,
    outputs: Vec<(String, String)>,
}

fn page() -> String {
    let path = format!("{}/../../docs/statistics.md", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

/// The headings of the page, and its examples.
fn read(page: &str) -> (Vec<String>, Vec<Example>) {
    let (mut sections, mut examples) = (Vec::new(), Vec::new());
    let mut open: Option<Example> = None;
    for (index, line) in page.lines().enumerate() {
        if let Some(heading) = line.strip_prefix("## ") {
            sections.push(heading.to_owned());
        }
        let Some(example) = &mut open else {
            if line == "```example" {
                open = Some(Example {
                    line: index + 1,
                    section: sections.last().unwrap().clone(),
                    function: String::new(),
                    inputs: BTreeMap::new(),
                    outputs: Vec::new(),
                });
            }
            continue;
        };
        if line == "```" {
            examples.extend(open.take());
        } else if let Some((name, value)) = line.strip_prefix("=> ").map(|output| output.split_once(": ").unwrap()) {
            example.outputs.push((name.to_owned(), value.to_owned()));
        } else if let Some((name, value)) = line.split_once(": ") {
            let former = example.inputs.insert(name.to_owned(), value.to_owned());
            assert_eq!(former, None, "line {}: two values", index + 1);
        } else {
            assert_eq!(example.function, "", "line {}: neither a function nor a value", index + 1);
            example.function = line.to_owned();
        }
    }
    assert!(open.is_none(), "the last example is not closed");
    (sections, examples)
}

/// What the page should say: a number with as many places as it shows.
fn shown(output: &Output, page: &str) -> String {
    match output {
        Output::Word(word) => word.clone(),
        Output::Number(number) => {
            let places = page.split_once('.').map_or(0, |(_, places)| places.len());
            format!("{number:.places$}")
        }
        Output::Numbers(numbers) => {
            let pages: Vec<&str> = page.split(' ').collect();
            let numbers = numbers.iter().enumerate();
            let numbers = numbers.map(|(index, number)| {
                number.map_or_else(
                    || "–".to_owned(),
                    |it| shown(&Output::Number(it), pages.get(index).unwrap_or(&"0.0000")),
                )
            });
            numbers.collect::<Vec<_>>().join(" ")
        }
    }
}

#[test]
fn every_example_gives_what_the_page_says() {
    let mut wrong = Vec::new();
    for example in read(&page()).1 {
        let at = format!("line {} ({}), {}", example.line, example.section, example.function);
        let outputs =
            functions::run(&example.function, example.inputs).unwrap_or_else(|problem| panic!("{at}: {problem}"));
        assert!(!example.outputs.is_empty(), "{at}: nothing is promised");
        for (name, value) in example.outputs {
            let Some((_, output)) = outputs.iter().find(|(output, _)| *output == name) else {
                panic!("{at}: no output {name}, only {:?}", outputs.iter().map(|(name, _)| *name).collect::<Vec<_>>());
            };
            let expected = shown(output, &value);
            if expected != value {
                wrong.push(format!("{at}: {name}: {expected}, the page says {value}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_section_has_an_example() {
    let (sections, examples) = read(&page());
    let bare: Vec<&String> = sections
        .iter()
        .filter(|section| !WITHOUT_EXAMPLES.contains(&section.as_str()))
        .filter(|section| examples.iter().all(|example| example.section != **section))
        .collect();
    assert_eq!(bare, Vec::<&String>::new());
}

#[test]
fn every_function_is_used() {
    let examples = read(&page()).1;
    let unused: Vec<&str> =
        functions::names().filter(|name| examples.iter().all(|example| example.function != *name)).collect();
    assert_eq!(unused, Vec::<&str>::new());
}

#[test]
fn a_wrong_page_is_noticed() {
    // 1 of 2 sign patterns that are as far from 0: p is 1, not 0.5.
    let page = "## Section\n\n```example\nsign_flip\ndeltas: 1\n=> p_two_sided: 0.5\n```\n";
    let example = read(page).1.pop().unwrap();
    let outputs = functions::run(&example.function, example.inputs).unwrap();
    let (_, p) = outputs.iter().find(|(name, _)| *name == "p_two_sided").unwrap();
    assert_eq!((shown(p, "0.5"), example.outputs), ("1.0".to_owned(), vec![("p_two_sided".into(), "0.5".into())]));
    let inputs = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
    assert!(functions::run("sign_flop", BTreeMap::new()).is_err());
    assert!(functions::run("sign_flip", BTreeMap::new()).is_err());
    assert!(functions::run("sign_flip", inputs("delta", "1")).is_err());
    assert!(functions::run("sign_flip", inputs("deltas", "one")).is_err());
}
