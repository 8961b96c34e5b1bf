//! Rows of the report on disk while the rest of it is not known yet, so that memory stays flat.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use crate::json::write::new_line;

/// Formatted rows in report order.
#[derive(Debug)]
pub struct RowSpool {
    file: BufWriter<File>,
    rows: usize,
}

impl RowSpool {
    /// A new spool in the system's folder for temporary files; it vanishes with the process.
    ///
    /// # Errors
    /// When no temporary file can be made.
    pub fn new() -> io::Result<Self> {
        Ok(Self { file: BufWriter::with_capacity(1 << 20, tempfile::tempfile()?), rows: 0 })
    }

    /// Adds a formatted row.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn push(&mut self, row: &[u8]) -> io::Result<()> {
        if self.rows > 0 {
            self.file.write_all(b",")?;
        }
        new_line(&mut self.file, 2)?;
        self.file.write_all(row)?;
        self.rows += 1;
        Ok(())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Writes the rows as a JSON array that stands one level deep.
    ///
    /// # Errors
    /// Those of the spool and of the writer.
    pub fn write_array(self, writer: &mut impl Write) -> io::Result<()> {
        writer.write_all(b"[")?;
        if self.rows > 0 {
            let mut file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.seek(SeekFrom::Start(0))?;
            copy(BufReader::with_capacity(1 << 16, file), writer)?;
            new_line(writer, 1)?;
        }
        writer.write_all(b"]")
    }
}

fn copy(mut reader: impl Read, writer: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 18];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(()),
            count => writer.write_all(&buffer[..count])?,
        }
    }
}
