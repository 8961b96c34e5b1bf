//! What users see: one binary, a module for each command or journey.

mod bad_input;
mod claims;
mod conformance_assertions;
mod conformance_pairs;
mod corpus;
mod demo;
mod dependencies;
mod diff;
mod docs;
mod doctor;
mod forge;
mod forge_odd;
mod generate;
mod layouts;
mod replay_grading;
mod replay_reading;
mod skill_eval;
mod skill_eval_odd;
mod suites_of_others;
mod summary;
mod support;
mod verdicts_of_others;
mod workspaces;
mod workspaces_recorded;
