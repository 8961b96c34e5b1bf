//! What two processes of skill-lift exchange, and nothing else.
//!
//! Runners write run directories, the grader reads them. Both name a run by its [`RunKey`], find it under the path of
//! that key, and speak of it with the codes of [`reason`]. Files are written whole or not at all ([`mod@write`]).

pub mod artifact_commit;
pub mod digest;
pub mod reason;
pub mod run_key;
pub mod telemetry;
pub mod write;

pub use digest::{ContentDigest, TreeDigest};
pub use reason::{BlockedReason, Metric, ReasonClass, UnscoredReason};
pub use run_key::{Population, RunKey};
