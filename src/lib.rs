//! skill-lift measures what an Agent Skill really changes: it grades saved run trees offline, pairs the runs with and
//! without the skill exactly, and says how large the lift is and how sure that is.
//!
//! The rooms, in the order of the data (a room uses the ones before it, never one after it):
//! [`json`] and the crate `skill-lift-text` read; [`skill`] is the skill itself; [`suite`] is what is evaluated;
//! [`runs`] is what was produced.

pub mod analyze;
pub mod cli;
pub mod feedback;
pub mod frame;
pub mod grade;
pub mod json;
pub mod judge;
pub mod pipeline;
pub mod report;
pub mod runs;
pub mod serve;
pub mod skill;
pub mod suite;
