//! The frames as Parquet files.

use std::io::Write;
use std::path::Path;

use polars::prelude::DataFrame;
use polars_io::parquet::write::{ParquetCompression, ParquetWriter};
use skill_lift_contract::write::AtomicFile;

use super::{FrameError, Frames};

impl Frames {
    /// Writes `runs.parquet` and `assertions.parquet` into a folder, which is created if it is not there. The same
    /// frames give the same bytes.
    ///
    /// # Errors
    /// When a file cannot be written; nothing half-written is left then.
    pub fn write_parquet(&self, folder: &Path) -> Result<(), FrameError> {
        write(&self.runs, &folder.join("runs.parquet"))?;
        match &self.assertions {
            Some(assertions) => write(assertions, &folder.join("assertions.parquet")),
            None => Ok(()),
        }
    }
}

fn write(frame: &DataFrame, path: &Path) -> Result<(), FrameError> {
    let failed = |source| FrameError::Write { path: path.display().to_string(), source };
    let mut file = AtomicFile::create(path).map_err(failed)?;
    let mut frame = frame.clone();
    frame.rechunk_mut();
    ParquetWriter::new(&mut file)
        .with_compression(ParquetCompression::Zstd(None))
        .set_parallel(false)
        .finish(&mut frame)?;
    file.flush().map_err(failed)?;
    file.commit().map_err(failed)
}
