//! The ledger of `cost-summary` as JSON, in the form of version 0.6 with the accounting of caches beside it.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use skill_lift_contract::telemetry::SCHEMA_VERSION;

use super::cost_json::{CacheAccounting, CoverageJson, JudgeJson, SpendJson, TotalsJson, spend_members};
use super::ordered::Ordered;
use super::telemetry_json::dollars;
use crate::analyze::telemetry::{Finding, Ledger, Spend};
use crate::json::write::pretty;
use crate::judge::JudgeSpend;

/// What stands around a ledger.
#[derive(Debug, Clone)]
pub struct LedgerHead {
    /// The suite file as the user typed it.
    pub manifest: String,
    /// The skill under test.
    pub skill_name: String,
    /// Seconds since 1970, only when the user asked for a stamp.
    pub generated_at: Option<i64>,
    /// The folder of the runs as the user typed it.
    pub runs_root: String,
}

/// A ledger with what judging cost, if verdicts were given.
#[derive(Debug, Clone, Copy)]
pub struct LedgerSource<'a> {
    /// What stands around it.
    pub head: &'a LedgerHead,
    /// The ledger.
    pub ledger: &'a Ledger,
    /// What judging cost.
    pub judge: Option<&'a JudgeSpend>,
}

/// Writes the ledger.
///
/// # Errors
/// Those of the writer.
pub fn write_ledger_json(writer: &mut dyn Write, source: LedgerSource<'_>) -> io::Result<()> {
    pretty(&mut *writer, &LedgerJson(source), 0)?;
    writer.write_all(b"\n")
}

struct LedgerJson<'a>(LedgerSource<'a>);

impl Serialize for LedgerJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let LedgerSource { head, ledger, judge } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("telemetry_schema_version", &SCHEMA_VERSION)?;
        map.serialize_entry("generated_at", &head.generated_at)?;
        map.serialize_entry("manifest", &head.manifest)?;
        map.serialize_entry("skill_name", &head.skill_name)?;
        map.serialize_entry("runs_root", &head.runs_root)?;
        map.serialize_entry("coverage", &CoverageJson(ledger.coverage))?;
        map.serialize_entry("totals", &TotalsJson { totals: &ledger.totals, execution_errors: None })?;
        map.serialize_entry("by_variant", &groups(&ledger.by_variant))?;
        map.serialize_entry("by_runner", &groups(&ledger.by_runner))?;
        map.serialize_entry("by_case", &groups(&ledger.by_case))?;
        let named = |key, groups, positions: &'_ [usize]| -> Vec<NamedSpend<'_>> {
            let groups: &[(String, Spend)] = groups;
            positions.iter().map(|position| NamedSpend { key, group: &groups[*position] }).collect()
        };
        map.serialize_entry("top_expensive_cases", &named("case_id", &ledger.by_case, &ledger.top_cases))?;
        let ablations = named("variant", &ledger.by_variant, &ledger.top_ablations);
        map.serialize_entry("top_expensive_ablations", &ablations)?;
        let findings = ledger.findings.iter().map(|finding| finding_json(ledger, finding));
        map.serialize_entry("cost_quality_findings", &findings.collect::<Vec<_>>())?;
        if let Some(judge) = judge {
            map.serialize_entry("judge", &JudgeJson(judge))?;
        }
        map.serialize_entry("cache_accounting", &CacheAccounting(&ledger.totals))?;
        map.end()
    }
}

fn groups(groups: &[(String, Spend)]) -> Ordered<SpendJson<'_>> {
    Ordered(groups.iter().map(|(name, spend)| (name.clone(), SpendJson(spend))).collect())
}

/// A group with its name as the first member.
struct NamedSpend<'a> {
    key: &'static str,
    group: &'a (String, Spend),
}

impl Serialize for NamedSpend<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (name, spend) = self.group;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(self.key, name)?;
        spend_members(&mut map, spend)?;
        map.end()
    }
}

#[derive(Serialize)]
struct FindingJson<'a> {
    kind: &'static str,
    case_id: &'a str,
    flags: &'a [String],
    total_tokens: Option<u128>,
    total_cost_usd: Option<f64>,
}

fn finding_json<'a>(ledger: &'a Ledger, finding: &'a Finding) -> FindingJson<'a> {
    let (case_id, spend) = &ledger.by_case[finding.case];
    FindingJson {
        kind: "spend-on-non-discriminating-case",
        case_id,
        flags: &finding.flags,
        total_tokens: spend.total_tokens.complete(),
        total_cost_usd: spend.dollars().complete().map(|sum| dollars(&sum)),
    }
}
