//! What people are told of a gate, in order, before any output form.

use super::{tried, words};
use crate::analyze::gate::{Gate, GateAnswer};
use crate::report::words::Tone;

/// What a text about a gate shows.
#[derive(Debug)]
pub struct GateView {
    /// Name of the skill; empty when nobody names it.
    pub skill_name: String,
    /// The answer.
    pub sentence: String,
    /// Whether it is a good one.
    pub tone: Tone,
    /// Why.
    pub why: Vec<String>,
    /// What was asked.
    pub asked: String,
    /// Labelled sentences.
    pub paragraphs: Vec<(&'static str, String)>,
}

impl GateView {
    /// The view of a gate.
    pub fn of(gate: &Gate) -> Self {
        let mut paragraphs = Vec::new();
        paragraphs.extend(Some(words::next_step(gate)).filter(|text| !text.is_empty()).map(|text| ("Next", text)));
        paragraphs.extend(words::other_intervals(gate).map(|text| ("Numbers", text)));
        paragraphs.extend(words::cost(gate).map(|text| ("Money", text)));
        paragraphs.extend(gate.self_test.as_ref().map(|test| ("Tried", tried::text(test))));
        Self {
            skill_name: gate.skill_name.clone(),
            sentence: words::sentence(gate),
            tone: match gate.answer {
                GateAnswer::Holds => Tone::Good,
                GateAnswer::EmptyAllowed => Tone::Neutral,
                _ => Tone::Bad,
            },
            why: words::why(gate),
            asked: words::asked(&gate.condition),
            paragraphs,
        }
    }
}
