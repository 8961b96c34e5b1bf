//! The answer of a run as the text checks see it; views and foldings are made once, when a check first needs them.

use std::cell::OnceCell;

use skill_lift_text::python;
use skill_lift_text::view::{Comparison, View};

/// An answer with its views.
#[derive(Debug)]
pub struct Answer<'a> {
    raw: &'a str,
    rendered: OnceCell<View<'a>>,
    folded_raw: OnceCell<String>,
    folded_rendered: OnceCell<String>,
}

impl<'a> Answer<'a> {
    /// Wraps a text.
    pub fn new(raw: &'a str) -> Self {
        Self { raw, rendered: OnceCell::new(), folded_raw: OnceCell::new(), folded_rendered: OnceCell::new() }
    }

    /// What the rendered view shows.
    pub fn rendered(&self) -> &View<'a> {
        self.rendered.get_or_init(|| View::rendered(self.raw))
    }

    /// The text under a view.
    pub fn text(&self, comparison: Comparison) -> &str {
        match comparison {
            Comparison::Exact => self.raw,
            Comparison::Rendered => &self.rendered().text,
        }
    }

    /// The text under a view with case folded.
    pub fn folded(&self, comparison: Comparison) -> &str {
        if comparison == Comparison::Rendered && self.rendered().changed() {
            self.folded_rendered.get_or_init(|| python::casefold(&self.rendered().text).into_owned())
        } else {
            self.folded_raw.get_or_init(|| python::casefold(self.raw).into_owned())
        }
    }

    /// The text that a literal is looked for in.
    pub fn for_literals(&self, comparison: Comparison, ignore_case: bool) -> &str {
        if ignore_case { self.folded(comparison) } else { self.text(comparison) }
    }
}
