//! Rows of the report, written while runs are graded so that memory stays flat.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use crate::json::write::new_line;

/// Takes formatted rows in report order.
pub trait RowWriter: Send {
    /// Adds a row.
    ///
    /// # Errors
    /// When the disk is full.
    fn push(&mut self, row: &[u8]) -> io::Result<()>;
}

/// Rows as a JSON array that stands one level deep: in the report itself, or in a file of its own while what stands
/// before them is not known yet.
#[derive(Debug)]
pub struct RowArray<W> {
    writer: W,
    is_empty: bool,
}

/// Rows in a temporary file, which vanishes with the process.
pub type RowSpool = RowArray<BufWriter<File>>;

impl<W: Write + Send> RowWriter for RowArray<W> {
    fn push(&mut self, row: &[u8]) -> io::Result<()> {
        if !self.is_empty {
            self.writer.write_all(b",")?;
        }
        self.is_empty = false;
        new_line(&mut self.writer, 2)?;
        self.writer.write_all(row)
    }
}

impl<W: Write> RowArray<W> {
    /// Begins the array.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn begin(mut writer: W) -> io::Result<Self> {
        writer.write_all(b"[")?;
        Ok(Self { writer, is_empty: true })
    }

    /// Ends the array.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn end(mut self) -> io::Result<W> {
        if !self.is_empty {
            new_line(&mut self.writer, 1)?;
        }
        self.writer.write_all(b"]")?;
        Ok(self.writer)
    }
}

impl RowSpool {
    /// A spool in the system's folder for temporary files.
    ///
    /// # Errors
    /// When no temporary file can be made.
    pub fn aside() -> io::Result<Self> {
        Self::begin(BufWriter::with_capacity(1 << 20, tempfile::tempfile()?))
    }

    /// Ends the array and writes it where it belongs.
    ///
    /// # Errors
    /// Those of the spool and of the writer.
    pub fn move_to(self, writer: &mut impl Write) -> io::Result<()> {
        let mut file = self.end()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        let mut buffer = vec![0; 1 << 18];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(()),
                count => writer.write_all(&buffer[..count])?,
            }
        }
    }
}
