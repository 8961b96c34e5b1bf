//! How large a skill is, in the form of version 0.6 of the report format.

use serde::Serialize;

use crate::skill::SkillProfile;

/// How words are counted; no model counts tokens that way.
pub(super) const ESTIMATOR: &str = "whitespace_words";

#[derive(Serialize)]
pub(super) struct ProfileJson<'a> {
    generated_at: Option<i64>,
    manifest: &'a str,
    skill_name: &'a str,
    summary: Summary,
    files: Vec<File<'a>>,
    references: Vec<Reference<'a>>,
    findings: Vec<Finding<'a>>,
}

#[derive(Serialize)]
struct Summary {
    skill_files: usize,
    skill_tokens: Option<u64>,
    reference_files: usize,
    reference_tokens: Option<u64>,
    modules: usize,
    module_count: usize,
    estimator: &'static str,
}

#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    tokens: u64,
    bytes: u64,
    modules: &'a [String],
    module_count: usize,
}

#[derive(Serialize)]
struct Reference<'a> {
    path: &'a str,
    tokens: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct Finding<'a> {
    kind: &'static str,
    severity: &'static str,
    message: &'a str,
}

/// The block. `manifest` is the suite as the user typed it.
pub(super) fn profile<'a>(
    profile: &'a SkillProfile,
    generated_at: Option<i64>,
    manifest: &'a str,
    skill_name: &'a str,
) -> ProfileJson<'a> {
    let files = profile.files.iter().map(|file| File {
        path: &file.path,
        tokens: file.tokens,
        bytes: file.bytes,
        modules: &file.modules,
        module_count: file.module_count,
    });
    let references =
        profile.references.iter().map(|file| Reference { path: &file.path, tokens: file.tokens, bytes: file.bytes });
    let findings = profile.findings.iter().map(|finding| Finding {
        kind: finding.kind.code(),
        severity: finding.kind.severity(),
        message: &finding.message,
    });
    ProfileJson {
        generated_at,
        manifest,
        skill_name,
        summary: Summary {
            skill_files: profile.files.len(),
            skill_tokens: profile.skill_tokens,
            reference_files: profile.references.len(),
            reference_tokens: profile.reference_tokens,
            modules: profile.listed_modules(),
            module_count: profile.module_count(),
            estimator: ESTIMATOR,
        },
        files: files.collect(),
        references: references.collect(),
        findings: findings.collect(),
    }
}
