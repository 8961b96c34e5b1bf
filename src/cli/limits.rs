//! How much is read: every limit has a name, a default and a flag.

use clap::Args;
use serde_json::Value;

use super::common::changed;
use crate::runs::Limits;

/// How much is read.
#[derive(Debug, Args)]
pub struct LimitArguments {
    /// Largest suite, dataset or verdict file.
    #[arg(long, value_name = "MIB", default_value_t = 64, help_heading = "Limits")]
    pub max_suite_mib: u64,
    /// Largest answer; a run with a larger one is not scored.
    #[arg(long, value_name = "MIB", default_value_t = 64, help_heading = "Limits")]
    pub max_output_mib: u64,
    /// Largest metadata, timing or metrics file.
    #[arg(long, value_name = "MIB", default_value_t = 16, help_heading = "Limits")]
    pub max_sidecar_mib: u64,
    /// Largest file that a check reads.
    #[arg(long, value_name = "MIB", default_value_t = 64, help_heading = "Limits")]
    pub max_artifact_mib: u64,
    /// Largest file of events; of a larger one nothing is known.
    #[arg(long, value_name = "MIB", default_value_t = 64, help_heading = "Limits")]
    pub max_events_mib: u64,
    /// What is kept of each output stream of a script.
    #[arg(long, value_name = "KIB", default_value_t = 256, help_heading = "Limits")]
    pub max_script_output_kib: u64,
    /// Longest text of a similarity check, in characters.
    #[arg(long, value_name = "N", default_value_t = 200_000, help_heading = "Limits")]
    pub max_similarity_chars: usize,
    /// Characters of the evidence of one check; the rest is cut and its length stated.
    #[arg(long, value_name = "N", default_value_t = 10_000, help_heading = "Limits")]
    pub max_evidence_chars: usize,
    /// Text files of an `outputs` folder that are joined to an answer.
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "Limits")]
    pub max_output_files: usize,
    /// Entries of one directory of the run tree.
    #[arg(long, value_name = "N", default_value_t = 100_000, help_heading = "Limits")]
    pub max_dir_entries: usize,
}

impl LimitArguments {
    /// What is read of a tree.
    pub fn limits(&self) -> Limits {
        Limits {
            output_bytes: Limits::mebibytes(self.max_output_mib),
            sidecar_bytes: Limits::mebibytes(self.max_sidecar_mib),
            artifact_bytes: Limits::mebibytes(self.max_artifact_mib),
            output_files: self.max_output_files,
            directory_entries: self.max_dir_entries,
        }
    }

    /// The limits that differ from their defaults.
    pub fn options(&self) -> [(&'static str, Option<Value>); 10] {
        [
            ("max-suite-mib", changed(&self.max_suite_mib, &64)),
            ("max-output-mib", changed(&self.max_output_mib, &64)),
            ("max-sidecar-mib", changed(&self.max_sidecar_mib, &16)),
            ("max-artifact-mib", changed(&self.max_artifact_mib, &64)),
            ("max-events-mib", changed(&self.max_events_mib, &64)),
            ("max-script-output-kib", changed(&self.max_script_output_kib, &256)),
            ("max-similarity-chars", changed(&self.max_similarity_chars, &200_000)),
            ("max-evidence-chars", changed(&self.max_evidence_chars, &10_000)),
            ("max-output-files", changed(&self.max_output_files, &100)),
            ("max-dir-entries", changed(&self.max_dir_entries, &100_000)),
        ]
    }
}
