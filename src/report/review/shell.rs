//! The file around the data: the template, the style, the script, and what the browser may do with them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, HtmlEscape, Output, State, context};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::island::is_steering;
use super::overview::Overview;
use super::{PageError, ReviewSource, headline};
use crate::report::{SummaryView, numbers};

const SHELL: &str = include_str!("../../../templates/review/shell.html");
const OVERVIEW: &str = include_str!("../../../templates/review/overview.html");
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
    json: String,
}

impl Shell {
    /// The page of a source.
    ///
    /// # Errors
    /// When the template is broken.
    pub(super) fn new(
        source: &ReviewSource<'_>,
        view: &SummaryView,
        overview: &Overview,
        cases: usize,
    ) -> Result<Self, PageError> {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.set_formatter(write_visibly);
        environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
        environment.add_template("review/overview.html", OVERVIEW)?;
        environment.add_template("review/shell.html", SHELL)?;
        let headline = headline(view, source.again);
        let mut shell = Self {
            environment,
            title: format!("{headline} · {} · skill-lift", view.skill_name),
            skill: view.skill_name.clone(),
            subtitle: subtitle(source, view),
            cases: numbers::count(cases),
            overview: Value::from(Serde(overview)),
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
        let parts = parts.into_iter().enumerate().map(|(number, json)| Island { id: format!("sl-c{number}"), json });
        let index = std::iter::once(Island { id: "sl-index".to_owned(), json: index });
        let islands: Vec<Island> = index.chain(parts).collect();
        let notes: Vec<String> = cuts.iter().map(|cut| sentence(cut)).collect();
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
        Ok(page.into_bytes())
    }
}

/// A note of the program as a sentence.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| format!("{}{}.", first.to_uppercase(), characters.as_str())).unwrap_or_default()
}

/// `iteration-4 · 24 cases · 2 models · 3 repetitions`.
fn subtitle(source: &ReviewSource<'_>, view: &SummaryView) -> String {
    let sizes = view.size.split(", ").filter(|part| !part.starts_with("1 ") || part.ends_with("case"));
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
