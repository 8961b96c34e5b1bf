//! Graded runs as the rows of a saved report, without the report.

use std::io;

use crate::report::RowWriter;
use crate::runs::claims::{SavedRow, read_saved_row};

/// Takes the rows of a report as it is made.
#[derive(Debug, Default)]
pub struct SavedRows {
    /// The rows in report order.
    pub rows: Vec<SavedRow>,
}

impl RowWriter for SavedRows {
    fn push(&mut self, row: &[u8]) -> io::Result<()> {
        self.rows.push(read_saved_row(row, self.rows.len()).map_err(io::Error::other)?);
        Ok(())
    }
}
