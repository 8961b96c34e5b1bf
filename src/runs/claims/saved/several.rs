//! A report of several skills, as `aggregate` writes it: what they add up to, and the whole report of each.

use std::collections::{HashMap, HashSet};

use super::super::error::ClaimsError;
use super::super::note::Notes;
use super::super::places::{index, is_list, items};
use super::super::read::{ReadOptions, with_values};
use super::{SavedBenchmark, saved};
use crate::json::Item;

/// The list of reports.
const REPORTS: &str = "/reports";
/// Skills of one report: whoever shows them has a part for each.
const MOST_SKILLS: usize = 1_000;

/// A saved report, of one skill or of several.
#[derive(Debug)]
pub enum SavedReport {
    /// Of `benchmark`.
    Benchmark(Box<SavedBenchmark>),
    /// Of `aggregate`.
    Aggregate(SavedAggregate),
}

/// A saved report of several skills.
#[derive(Debug)]
pub struct SavedAggregate {
    /// Seconds since 1970, if the report is stamped.
    pub generated_at: Option<i64>,
    /// The report of each skill, in the order of the file.
    pub skills: Vec<SavedBenchmark>,
    /// Whether it holds a mean over the skills; that of the reference package does not.
    pub holds_mean: bool,
    /// Whether it holds what all runs cost together.
    pub holds_cost: bool,
}

impl SavedAggregate {
    /// Puts the name of its skill before the id of each case: `skill/case`, so that each id stands for one case. Of two
    /// skills with one name the later one has a number.
    pub fn name_cases_by_skill(&mut self) {
        let mut taken: HashSet<String> = HashSet::new();
        let mut names: HashSet<String> = HashSet::new();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for (at, skill) in self.skills.iter_mut().enumerate() {
            let plain = skill.skill_name.take().unwrap_or_else(|| format!("skill {}", at + 1));
            let ids: HashSet<&str> = skill.rows.iter().map(|row| row.case.id.as_str()).collect();
            let number = numbers.entry(plain.clone()).or_default();
            let name = loop {
                *number += 1;
                let name = if *number == 1 { plain.clone() } else { format!("{plain} ({number})") };
                // names and ids may both hold a slash
                if !names.contains(&name) && ids.iter().all(|id| !taken.contains(&joined(&name, id))) {
                    break name;
                }
            };
            taken.extend(ids.into_iter().map(|id| joined(&name, id)));
            let rename = |id: &mut String| *id = joined(&name, id);
            skill.rows.iter_mut().for_each(|row| rename(&mut row.case.id));
            skill.flags.iter_mut().for_each(|flag| rename(&mut flag.case));
            let regressions = skill.ablations.iter_mut().flat_map(|ablation| &mut ablation.regressions);
            regressions.flat_map(|regression| &mut regression.cases).for_each(rename);
            names.insert(name.clone());
            skill.skill_name = Some(name);
        }
    }
}

fn joined(skill: &str, case: &str) -> String {
    format!("{skill}/{case}")
}

/// Reads the bytes of a report of one skill or of several.
///
/// # Errors
/// As [`super::read_saved`]; also a report of several skills without one.
pub fn read_saved_report(bytes: &[u8], options: &ReadOptions) -> Result<SavedReport, ClaimsError> {
    with_values(bytes, options, |root, notes| match root.get("reports").filter(|list| is_list(*list)) {
        Some(list) if root.get("results").is_none() => aggregate(root, list, options).map(SavedReport::Aggregate),
        _ => saved(root, "", options, notes).map(|saved| SavedReport::Benchmark(Box::new(saved))),
    })
}

fn aggregate(root: Item<'_, '_>, list: Item<'_, '_>, options: &ReadOptions) -> Result<SavedAggregate, ClaimsError> {
    let mut skills: Vec<SavedBenchmark> = Vec::new();
    let mut rows = 0;
    for (at, item) in items(list).enumerate() {
        if at >= MOST_SKILLS {
            return Err(ClaimsError::TooManyRows { pointer: REPORTS.to_owned(), limit: MOST_SKILLS });
        }
        let place = index(REPORTS, at);
        // the limit is one for the whole file
        let rest = ReadOptions { rows: options.rows - rows, ..*options };
        let skill = saved(item, &place, &rest, Notes::default()).map_err(|problem| match problem {
            ClaimsError::TooManyRows { pointer, .. } => ClaimsError::TooManyRows { pointer, limit: options.rows },
            problem @ (ClaimsError::Row { .. } | ClaimsError::Duplicate { .. }) => problem,
            problem => ClaimsError::Row { pointer: place, problem: problem.to_string() },
        })?;
        rows += skill.rows.len();
        skills.push(skill);
    }
    if skills.is_empty() {
        let problem = "the report of a skill is expected, and there is none".to_owned();
        return Err(ClaimsError::Row { pointer: REPORTS.to_owned(), problem });
    }
    let holds = |key: &str| root.get("summary").and_then(|summary| summary.get(key)).is_some_and(Item::is_object);
    Ok(SavedAggregate {
        generated_at: root.get("generated_at").and_then(Item::as_number).and_then(|number| number.as_i64()),
        skills,
        holds_mean: holds("across_skills"),
        holds_cost: holds("cost_summary"),
    })
}
