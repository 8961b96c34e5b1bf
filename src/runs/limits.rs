//! How much of a run tree is read: every limit has a name, a default and a flag.

const MIB: u64 = 1024 * 1024;

/// Limits on what is read below the runs root.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// `output-mib`: bytes of one answer.
    pub output_bytes: u64,
    /// `sidecar-mib`: bytes of one metadata, metrics or timing file.
    pub sidecar_bytes: u64,
    /// `artifact-mib`: bytes of one file that a check reads.
    pub artifact_bytes: u64,
    /// `output-files`: files that are joined when a run has only an `outputs/` folder.
    pub output_files: usize,
    /// `dir-entries`: entries of one directory.
    pub directory_entries: usize,
}

impl Limits {
    /// A limit of bytes given in MiB.
    pub fn mebibytes(count: u64) -> u64 {
        count.saturating_mul(MIB)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            output_bytes: 64 * MIB,
            sidecar_bytes: 16 * MIB,
            artifact_bytes: 64 * MIB,
            output_files: 100,
            directory_entries: 100_000,
        }
    }
}

/// A number of bytes as a person reads it: whole MiB where it is one.
pub fn describe_bytes(bytes: u64) -> String {
    if bytes >= MIB && bytes.is_multiple_of(MIB) { format!("{} MiB", bytes / MIB) } else { format!("{bytes} bytes") }
}
