//! The file around the data: the template, the style, the script, and what the browser may do with them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, HtmlEscape, Output, State, context};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::island::is_steering;
use super::overview::Front;
use super::{PageError, ReviewSource, capitalized};
use crate::report::numbers;

const SHELL: &str = include_str!("../../../templates/review/shell.html");
/// The parts of the overview by name.
const OVERVIEW: [(&str, &str); 5] = [
    ("review/overview.html", include_str!("../../../templates/review/overview.html")),
    ("review/overview-macros.html", include_str!("../../../templates/review/overview-macros.html")),
    ("review/overview-verdict.html", include_str!("../../../templates/review/overview-verdict.html")),
    ("review/overview-sections.html", include_str!("../../../templates/review/overview-sections.html")),
    ("review/overview-skills.html", include_str!("../../../templates/review/overview-skills.html")),
];
const STYLE: &str = include_str!("../../../templates/review/style.css");
const THEME: &str = include_str!("../../../templates/review/theme.js");
/// The parts of the script in their order.
const SCRIPT: [&str; 7] = [
    include_str!("../../../templates/review/script/formats.js"),
    include_str!("../../../templates/review/script/text.js"),
    include_str!("../../../templates/review/script/state.js"),
    include_str!("../../../templates/review/script/list.js"),
    include_str!("../../../templates/review/script/case.js"),
    include_str!("../../../templates/review/script/feedback.js"),
    include_str!("../../../templates/review/script/main.js"),
];

/// A page without its data.
pub(super) struct Shell {
    environment: Environment<'static>,
    title: String,
    skill: String,
    subtitle: String,
    cases: String,
    overview: Value,
    script: String,
    is_served: bool,
    bytes: usize,
}

#[derive(Serialize)]
struct Island {
    id: String,
    json: &'static str,
}

/// What stands for the data of an island until it is filled in: a character that no value is written with.
const HOLE: &str = "\u{1}";

impl Shell {
    /// The page of a source.
    ///
    /// # Errors
    /// When the template is broken.
    pub(super) fn new(source: &ReviewSource<'_>, front: &Front, cases: usize) -> Result<Self, PageError> {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.set_formatter(write_visibly);
        environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
        for (name, text) in OVERVIEW {
            environment.add_template(name, text)?;
        }
        environment.add_template("review/shell.html", SHELL)?;
        let mut shell = Self {
            environment,
            title: format!("{} · {} · skill-lift", front.title(), front.name()),
            skill: front.name().to_owned(),
            subtitle: subtitle(source, front),
            cases: numbers::count(cases),
            overview: Value::from(Serde(front)),
            script: format!("\"use strict\";\n(() => {{\n{}}})();\n", SCRIPT.join("\n")),
            is_served: source.options.token.is_some(),
            bytes: 0,
        };
        shell.bytes = shell.fill(String::new(), Vec::new(), &[])?.len();
        Ok(shell)
    }

    /// Bytes of the page without its data.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// What the browser may do: run these scripts, use this style, show images of the file, and nothing else.
    fn policy(&self) -> String {
        let connect = if self.is_served { "'self'" } else { "'none'" };
        format!("{}; connect-src {connect}", self.rules())
    }

    /// The policy without the addresses that it may ask.
    pub(super) fn rules(&self) -> String {
        let [theme, script, style] = [THEME, &self.script, STYLE].map(hash);
        format!(
            "default-src 'none'; script-src {theme} {script}; style-src {style}; img-src data:; \
             form-action 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
        )
    }

    /// The page with its data.
    ///
    /// # Errors
    /// When the template is broken.
    pub(super) fn fill(&self, index: String, parts: Vec<String>, cuts: &[String]) -> Result<Vec<u8>, PageError> {
        let names = (0..parts.len()).map(|number| format!("sl-c{number}"));
        let islands: Vec<Island> =
            std::iter::once("sl-index".to_owned()).chain(names).map(|id| Island { id, json: HOLE }).collect();
        let notes: Vec<String> = cuts.iter().map(|cut| format!("{}.", capitalized(cut))).collect();
        let page = self.environment.get_template("review/shell.html")?.render(context! {
            title => self.title.as_str(),
            skill => self.skill.as_str(),
            subtitle => self.subtitle.as_str(),
            cases_count => self.cases.as_str(),
            overview => &self.overview,
            csp => self.policy(),
            theme_js => THEME,
            style_css => STYLE,
            script_js => self.script.as_str(),
            footer_notes => notes,
            islands => Value::from(Serde(&islands)),
        })?;
        // the data go in afterwards, each once: they are most of the page
        let length = page.len() + index.len() + parts.iter().map(String::len).sum::<usize>();
        let mut bytes = Vec::with_capacity(length);
        let mut around = page.split(HOLE);
        bytes.extend_from_slice(around.next().unwrap_or_default().as_bytes());
        for (json, rest) in std::iter::once(index).chain(parts).zip(around) {
            bytes.extend_from_slice(json.as_bytes());
            bytes.extend_from_slice(rest.as_bytes());
        }
        Ok(bytes)
    }
}

/// `iteration-4 · 24 cases · 2 models · 3 repetitions`.
fn subtitle(source: &ReviewSource<'_>, front: &Front) -> String {
    let sizes = front.size().split(", ").filter(|part| !part.starts_with("1 ") || part.ends_with("case"));
    source.label.into_iter().chain(sizes).collect::<Vec<_>>().join(" · ")
}

fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// Writes a value into the page: escaped, and with every character that would steer a reader as its number.
fn write_visibly(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), minijinja::Error> {
    match value.as_str() {
        Some(text) if !value.is_safe() && text.contains(is_steering) => {
            let mut shown = String::with_capacity(text.len() + 8);
            for character in text.chars() {
                if is_steering(character) {
                    shown.extend(character.escape_unicode());
                } else {
                    shown.push(character);
                }
            }
            write!(out, "{}", HtmlEscape(&shown)).map_err(minijinja::Error::from)
        }
        _ => minijinja::escape_formatter(out, state, value),
    }
}
