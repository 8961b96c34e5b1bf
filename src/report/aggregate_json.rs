//! The report of `aggregate`: what several skills add up to, then the whole report of each.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use skill_lift_stats::random_effects::{RandomEffects, SkillEffect};
use skill_lift_stats::{Rational, Withheld, rational};

use super::benchmark_json::Members;
use super::cost_json::{CoverageJson, TotalsJson};
use super::flags_json::{FlaggedCase, flagged};
use super::ordered::Ordered;
use super::variants_json::{VariantBlock, variant_blocks};
use crate::analyze::Analysis;
use crate::analyze::several::{OneSkill, SeveralSkills};

/// The report of one skill.
#[derive(Debug)]
pub struct SkillReport {
    /// The skill.
    pub skill_name: String,
    /// What was computed from its runs.
    pub analysis: Analysis,
    /// Its report as it stands in a file of its own, without the last line break.
    pub file: File,
}

#[derive(Serialize)]
struct Summary<'a> {
    skills: usize,
    case_variant_rows: usize,
    unique_cases: usize,
    by_skill: Ordered<Ordered<VariantBlock<'a>>>,
    cost_summary: CostOfAll<'a>,
    flags: Vec<SkillFlag<'a>>,
    across_skills: AcrossSkills,
}

struct CostOfAll<'a> {
    several: &'a SeveralSkills,
    reports: &'a [SkillReport],
}

impl Serialize for CostOfAll<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let by_skill = self.reports.iter().map(|report| {
            let cost = &report.analysis.cost;
            let totals = TotalsJson { totals: &cost.totals, execution_errors: Some(cost.execution_errors) };
            (report.skill_name.clone(), totals)
        });
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("coverage", &CoverageJson(self.several.coverage))?;
        map.serialize_entry("totals", &TotalsJson { totals: &self.several.totals, execution_errors: None })?;
        map.serialize_entry("by_skill", &Ordered(by_skill.collect()))?;
        map.end()
    }
}

#[derive(Serialize)]
struct SkillFlag<'a> {
    skill_name: &'a str,
    #[serde(flatten)]
    case: FlaggedCase<'a>,
}

/// The mean lift over the skills.
#[derive(Serialize)]
struct AcrossSkills {
    method: &'static str,
    unit: &'static str,
    n: usize,
    confidence: f64,
    by_skill: Ordered<SkillEffectJson>,
    mean_lift: Option<f64>,
    standard_error: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    tau: Option<f64>,
    i_squared: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct SkillEffectJson {
    lift: Option<f64>,
    standard_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

fn across_skills(several: &SeveralSkills, alpha: &Rational) -> AcrossSkills {
    let effect = |effect: &Result<SkillEffect, Withheld>| SkillEffectJson {
        lift: effect.as_ref().ok().map(|effect| effect.lift),
        standard_error: effect.as_ref().ok().map(|effect| effect.standard_error),
        reason: effect.as_ref().err().map(|reason| reason.as_str()),
    };
    let of = |value: fn(&RandomEffects) -> f64| several.mean.as_ref().ok().map(value);
    AcrossSkills {
        method: "random-effects-hartung-knapp",
        unit: "skill",
        n: several.effects.iter().filter(|(_, effect)| effect.is_ok()).count(),
        confidence: rational::to_f64(&(rational::rate(1, 1) - alpha)),
        by_skill: Ordered(several.effects.iter().map(|(name, found)| (name.clone(), effect(found))).collect()),
        mean_lift: of(|mean| mean.mean),
        standard_error: of(|mean| mean.standard_error),
        lower: of(|mean| mean.lower.max(-1.0)),
        upper: of(|mean| mean.upper.min(1.0)),
        tau: of(RandomEffects::tau),
        i_squared: of(|mean| mean.i_squared),
        reason: several.mean.as_ref().err().map(|reason| reason.as_str()),
    }
}

/// Writes the report of several skills. `alpha` is the error rate of the limits of their mean.
///
/// # Errors
/// Those of the writer and of the files of the reports.
pub fn write_aggregate(
    writer: &mut impl Write,
    generated_at: Option<i64>,
    reports: &[SkillReport],
    alpha: &Rational,
) -> io::Result<()> {
    let skills: Vec<OneSkill<'_>> =
        reports.iter().map(|report| OneSkill { name: &report.skill_name, analysis: &report.analysis }).collect();
    let several = SeveralSkills::of(&skills, alpha);
    let cases = |report: &SkillReport| {
        let mut cases: Vec<u32> = report.analysis.table.runs.iter().map(|run| run.order.case).collect();
        cases.sort_unstable();
        cases.dedup();
        cases.len()
    };
    let blocks = reports
        .iter()
        .map(|report| (report.skill_name.clone(), variant_blocks(&report.analysis, &report.analysis.variants)));
    let summary = Summary {
        skills: reports.len(),
        case_variant_rows: reports.iter().map(|report| report.analysis.table.runs.len()).sum(),
        unique_cases: reports.iter().map(cases).sum(),
        by_skill: Ordered(blocks.collect()),
        cost_summary: CostOfAll { several: &several, reports },
        flags: reports.iter().flat_map(flags_of).collect(),
        across_skills: across_skills(&several, alpha),
    };
    let mut members = Members::open(writer)?;
    members.member("generated_at", &generated_at)?;
    members.member("summary", &summary)?;
    members.list("reports", reports.iter(), |report, writer| copy_indented(&report.file, writer))?;
    members.close()
}

fn flags_of(report: &SkillReport) -> impl Iterator<Item = SkillFlag<'_>> {
    let of_skill = |case| SkillFlag { skill_name: &report.skill_name, case: flagged(case) };
    report.analysis.case_flags.iter().map(of_skill)
}

/// Copies a report two levels deeper than it stands in its file. A line break in JSON is never part of a value.
fn copy_indented(file: &File, writer: &mut dyn Write) -> io::Result<()> {
    let mut file = file;
    file.seek(SeekFrom::Start(0))?;
    let mut buffer = vec![0; 1 << 18];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        let mut rest = &buffer[..count];
        while let Some(at) = memchr::memchr(b'\n', rest) {
            writer.write_all(&rest[..=at])?;
            writer.write_all(b"    ")?;
            rest = &rest[at + 1..];
        }
        writer.write_all(rest)?;
    }
}
