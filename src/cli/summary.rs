//! What `benchmark` and `diff` are told alike: what counts as a change, and how the table looks.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::Args;
use skill_lift_stats::Thresholds;
use skill_lift_stats::rational::{self, Rational};

use super::output::{Color, is_unicode, terminal_width, usage};
use crate::report::Style;

/// What counts as a change, and how the table looks.
#[derive(Debug, Args)]
pub struct SummaryArguments {
    /// Smallest lift or change that matters, above 0 and at most 1.
    #[arg(long, value_name = "LIFT", default_value = "0.10")]
    pub min_lift: String,
    /// Error rate of tests and intervals, between 0 and 1.
    #[arg(long, value_name = "RATE", default_value = "0.05")]
    pub alpha: String,
    /// List every case in the table, and everything else that is listed, without a limit.
    #[arg(long)]
    all_cases: bool,
    /// Write the table in ASCII.
    #[arg(long)]
    ascii: bool,
}

impl SummaryArguments {
    /// The thresholds. `Err` is the exit code after the problem was printed.
    pub fn thresholds(&self) -> Result<Thresholds, ExitCode> {
        let number = |flag: &str, text: &str| -> Result<Rational, ExitCode> {
            rational::parse_decimal(text)
                .ok_or_else(|| usage(&format!("invalid value '{text}' for '--{flag}': not a number")))
        };
        let (alpha, min_lift) = (number("alpha", &self.alpha)?, number("min-lift", &self.min_lift)?);
        Thresholds::new(alpha, min_lift).ok_or_else(|| {
            usage(&format!(
                "invalid value for '--alpha {}' or '--min-lift {}': alpha lies between 0 and 1, min-lift above 0 and at \
                 most 1",
                self.alpha, self.min_lift
            ))
        })
    }

    /// How the table looks on standard output.
    pub fn style(&self, color: Color) -> Style {
        table_style(color, self.ascii, self.all_cases)
    }
}

/// How tables look on standard output.
pub fn table_style(color: Color, ascii: bool, all_cases: bool) -> Style {
    Style {
        width: terminal_width(),
        color: color.applies(io::stdout().is_terminal()),
        ascii: ascii || !is_unicode(),
        all_cases,
    }
}
