//! Checks of what the agent used: tokens, seconds, commands.

use skill_lift_text::python;

use super::{Evidence, Finding, process};
use crate::runs::{Events, EventsProblem, Metrics, Signal};
use crate::suite::Check;

pub(super) fn evaluate(check: &Check, evidence: &mut Evidence<'_, '_>) -> Finding {
    let metrics = evidence.directory.metrics();
    let limit = evidence.options.events_bytes;
    match check {
        Check::TotalTokensLe { max } => total_tokens(*max, &metrics),
        Check::ElapsedSecondsLe { max } => elapsed_seconds(*max, &metrics),
        Check::CommandCountLe { max } => command_count(*max, &metrics, || evidence.directory.events(limit)),
        _ => Finding::unsupported(),
    }
}

fn total_tokens(max: u64, metrics: &Metrics) -> Finding {
    if let Some(missing) = process::unavailable(metrics, Signal::TotalTokens) {
        return missing;
    }
    match metrics.total_tokens {
        Some(tokens) => at_most("total_tokens", tokens, max as f64),
        None => Finding::unobserved("missing total_tokens evidence"),
    }
}

fn elapsed_seconds(max: f64, metrics: &Metrics) -> Finding {
    if let Some(missing) = process::unavailable(metrics, Signal::ElapsedMilliseconds) {
        return missing;
    }
    match metrics.elapsed_seconds {
        Some(seconds) => at_most("elapsed_seconds", seconds, max),
        None => Finding::unobserved("missing elapsed time evidence"),
    }
}

/// The events are read only when no measurement says how many commands there were.
fn command_count<E: AsRef<Events>>(max: u64, metrics: &Metrics, events: impl FnOnce() -> E) -> Finding {
    if let Some(missing) = process::unavailable(metrics, Signal::Commands) {
        return missing;
    }
    if let Some(count) = metrics.command_count {
        return at_most("command_count", count, max as f64);
    }
    match events().as_ref() {
        Ok(log) => at_most("command_count", log.completed_commands().count() as f64, max as f64),
        // a limit of this program is named, so that it is not taken for a gap in the run
        Err(problem @ EventsProblem::TooLarge(_)) => {
            Finding::unobserved(&format!("missing command count evidence ({problem})"))
        }
        Err(_) => Finding::unobserved("missing command count evidence"),
    }
}

fn at_most(name: &str, value: f64, max: f64) -> Finding {
    let (shown, limit) = (python::format_g(value), python::format_g(max));
    Finding::decided(value <= max, format!("{name}={shown}; max={limit}"))
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::grade::outcome::Availability;
    use crate::runs::FileProblem;
    use crate::runs::events::testing::events;
    use crate::runs::metrics::testing::metrics;

    fn seen(finding: Finding) -> (&'static str, String, Availability) {
        (finding.outcome.word(), finding.evidence, finding.availability)
    }

    fn decided(word: &'static str, evidence: &str) -> (&'static str, String, Availability) {
        (word, evidence.to_owned(), Availability::Complete)
    }

    fn unobserved(evidence: &str) -> (&'static str, String, Availability) {
        ("undecided", evidence.to_owned(), Availability::Missing)
    }

    #[test]
    fn the_limit_itself_is_allowed() {
        let tokens = |text: &str, max| seen(total_tokens(max, &metrics(&[text])));
        assert_eq!(tokens(r#"{"total_tokens":100}"#, 100), decided("pass", "total_tokens=100; max=100"));
        assert_eq!(tokens(r#"{"total_tokens":100.5}"#, 100), decided("fail", "total_tokens=100.5; max=100"));
        let big = "total_tokens=1.23457e+06; max=2e+06";
        assert_eq!(tokens(r#"{"total_tokens":1234567}"#, 2_000_000), decided("pass", big));
        let seconds = |text: &str| seen(elapsed_seconds(1.5, &metrics(&[text])));
        assert_eq!(seconds(r#"{"duration_ms":1500}"#), decided("pass", "elapsed_seconds=1.5; max=1.5"));
        assert_eq!(seconds(r#"{"elapsed_ms":1501}"#), decided("fail", "elapsed_seconds=1.501; max=1.5"));
    }

    #[test]
    fn nothing_measured_is_not_zero() {
        assert_eq!(seen(total_tokens(9, &metrics(&["{}"]))), unobserved("missing total_tokens evidence"));
        let seconds = seen(elapsed_seconds(9.0, &metrics(&[r#"{"elapsed_ms":true}"#])));
        assert_eq!(seconds, unobserved("missing elapsed time evidence"));
        let text = r#"{"total_tokens":0,"telemetry":{"measurements":{"total_tokens":{"reason":"missing"}}}}"#;
        assert_eq!(seen(total_tokens(9, &metrics(&[text]))), unobserved("missing total_tokens evidence (missing)"));
    }

    #[test]
    fn commands_are_measured_or_counted() {
        let count = |text: &str, log: Events| seen(command_count(1, &metrics(&[text]), || Rc::new(log)));
        let log = || events(r#"[{"type":"command","status":"done"},{"type":"command","status":"failed"}]"#);
        assert_eq!(count("{}", log()), decided("pass", "command_count=1; max=1"));
        assert_eq!(count(r#"{"commands":4}"#, log()), decided("fail", "command_count=4; max=1"));
        assert_eq!(count(r#"{"commands":-4,"command_count":0}"#, log()), decided("pass", "command_count=0; max=1"));
        assert_eq!(count("{}", events("{")), unobserved("missing command count evidence"));
        let large = FileProblem::TooLarge { path: "events.json".to_owned(), size: 7, limit: 5 };
        let named = "missing command count evidence (events_too_large: events.json has 7 bytes, the limit is 5 bytes)";
        assert_eq!(count("{}", Err(EventsProblem::TooLarge(large))), unobserved(named));
    }
}
