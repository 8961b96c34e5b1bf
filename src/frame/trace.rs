//! The columns of what the agent did, written and read back.

use polars::prelude::*;

use super::build::text_lists;
use super::schema::runs;
use crate::grade::{Trace, Trajectory};

/// Bytes of commands that are kept of a tree. Runs after that keep none, and say so.
const COMMAND_BYTES: usize = 64 << 20;

/// What the agent did in each run, as columns.
#[derive(Debug, Default)]
pub(super) struct TraceColumns {
    state: Vec<Option<&'static str>>,
    steps: Vec<Option<u32>>,
    commands: Vec<Option<u32>>,
    file_reads: Vec<Option<u32>>,
    file_writes: Vec<Option<u32>>,
    skill_invoked: Vec<Option<bool>>,
    command_texts: Vec<Vec<String>>,
    has_all_commands: Vec<Option<bool>>,
    /// Bytes of commands so far.
    command_bytes: usize,
}

impl TraceColumns {
    /// Adds a run.
    pub(super) fn push(&mut self, trace: &Trace) {
        let seen = match trace {
            Trace::Seen(trajectory) => Some(&**trajectory),
            Trace::Unread | Trace::Missing | Trace::Incomplete => None,
        };
        self.state.push(match trace {
            Trace::Unread => None,
            Trace::Missing => Some("missing"),
            Trace::Incomplete => Some("incomplete"),
            Trace::Seen(_) => Some("seen"),
        });
        self.steps.push(seen.map(|seen| seen.steps));
        self.commands.push(seen.map(|seen| seen.commands));
        self.file_reads.push(seen.map(|seen| seen.file_reads));
        self.file_writes.push(seen.map(|seen| seen.file_writes));
        self.skill_invoked.push(seen.map(|seen| seen.skill_invoked));
        let texts = seen.map(|seen| seen.command_texts.as_slice()).unwrap_or_default();
        let bytes: usize = texts.iter().map(String::len).sum();
        let fits = self.command_bytes + bytes <= COMMAND_BYTES;
        self.command_bytes += if fits { bytes } else { 0 };
        self.command_texts.push(if fits { texts.to_vec() } else { Vec::new() });
        self.has_all_commands.push(seen.map(|seen| seen.has_all_commands && fits));
    }

    /// The columns.
    pub(super) fn finish(self) -> [Column; 8] {
        [
            Column::new(runs::TRACE.into(), self.state),
            Column::new(runs::STEPS.into(), self.steps),
            Column::new(runs::COMMANDS.into(), self.commands),
            Column::new(runs::FILE_READS.into(), self.file_reads),
            Column::new(runs::FILE_WRITES.into(), self.file_writes),
            Column::new(runs::TRACE_SKILL_INVOKED.into(), self.skill_invoked),
            text_lists(runs::COMMAND_TEXTS, &self.command_texts),
            Column::new(runs::HAS_ALL_COMMANDS.into(), self.has_all_commands),
        ]
    }
}

/// What the agent did in each run of a frame.
///
/// # Errors
/// When a column is missing or of another type.
pub fn traces(frame: &DataFrame) -> Result<Vec<Trace>, PolarsError> {
    let number = |name: &str| -> Result<UInt32Chunked, PolarsError> { Ok(frame.column(name)?.u32()?.clone()) };
    let flag = |name: &str| -> Result<BooleanChunked, PolarsError> { Ok(frame.column(name)?.bool()?.clone()) };
    let state = frame.column(runs::TRACE)?.str()?;
    let (steps, commands) = (number(runs::STEPS)?, number(runs::COMMANDS)?);
    let (file_reads, file_writes) = (number(runs::FILE_READS)?, number(runs::FILE_WRITES)?);
    let (skill_invoked, has_all) = (flag(runs::TRACE_SKILL_INVOKED)?, flag(runs::HAS_ALL_COMMANDS)?);
    let texts = frame.column(runs::COMMAND_TEXTS)?.list()?;
    let texts_of = |row: usize| -> Vec<String> {
        let texts = texts.get_as_series(row);
        let texts = texts.as_ref().and_then(|texts| texts.str().ok());
        texts.into_iter().flat_map(|texts| texts.iter().flatten()).map(str::to_owned).collect()
    };
    let trace = |row: usize| match state.get(row) {
        None => Trace::Unread,
        Some("seen") => Trace::Seen(Box::new(Trajectory {
            steps: steps.get(row).unwrap_or_default(),
            commands: commands.get(row).unwrap_or_default(),
            file_reads: file_reads.get(row).unwrap_or_default(),
            file_writes: file_writes.get(row).unwrap_or_default(),
            skill_invoked: skill_invoked.get(row).unwrap_or_default(),
            command_texts: texts_of(row),
            has_all_commands: has_all.get(row).unwrap_or_default(),
        })),
        Some("incomplete") => Trace::Incomplete,
        Some(_) => Trace::Missing,
    };
    Ok((0..frame.height()).map(trace).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(texts: &[String], has_all_commands: bool) -> Trace {
        Trace::Seen(Box::new(Trajectory {
            steps: 4,
            commands: 3,
            file_reads: 1,
            file_writes: 0,
            skill_invoked: true,
            command_texts: texts.to_vec(),
            has_all_commands,
        }))
    }

    fn written_and_read(written: &[Trace]) -> Vec<Trace> {
        let mut columns = TraceColumns::default();
        written.iter().for_each(|trace| columns.push(trace));
        traces(&DataFrame::new(written.len(), columns.finish().into()).unwrap()).unwrap()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let texts = ["ls".to_owned(), "make".to_owned()];
        let all = [Trace::Unread, Trace::Missing, seen(&texts, true), Trace::Incomplete, seen(&[], false)];
        assert_eq!(written_and_read(&all), all);
        assert_eq!(written_and_read(&[]), []);
    }

    #[test]
    fn commands_of_a_tree_take_bounded_memory() {
        let half = ["x".repeat(COMMAND_BYTES / 2)];
        let (kept, small) = (seen(&half, true), seen(&["ls".to_owned()], true));
        let read = written_and_read(&[kept.clone(), small.clone(), kept.clone(), small.clone()]);
        assert_eq!(read, [kept, small.clone(), seen(&[], false), small]);
    }
}
