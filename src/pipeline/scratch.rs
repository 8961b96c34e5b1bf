//! Pieces of text that many threads make in any order, kept on disk and read back in report order.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A temporary file that only grows; it vanishes with the process.
#[derive(Debug)]
pub(super) struct Scratch {
    tail: Mutex<Tail>,
}

#[derive(Debug)]
struct Tail {
    file: BufWriter<File>,
    at: u64,
}

impl Scratch {
    /// A new file in the system's folder for temporary files.
    pub(super) fn new() -> io::Result<Self> {
        let file = BufWriter::with_capacity(1 << 18, tempfile::tempfile()?);
        Ok(Self { tail: Mutex::new(Tail { file, at: 0 }) })
    }

    /// Keeps a piece and says where it is.
    pub(super) fn keep(&self, piece: &[u8]) -> io::Result<Range<u64>> {
        // a thread that panicked while it held the lock has left at most a piece that nobody asks for
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.file.write_all(piece)?;
        let start = tail.at;
        tail.at += piece.len() as u64;
        Ok(start..tail.at)
    }

    /// Ends the writing.
    pub(super) fn into_reader(self) -> io::Result<ScratchReader> {
        let tail = self.tail.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(ScratchReader { file: tail.file.into_inner().map_err(io::IntoInnerError::into_error)? })
    }
}

/// The same file when all pieces are there.
#[derive(Debug)]
pub(super) struct ScratchReader {
    file: File,
}

impl ScratchReader {
    /// Copies a piece.
    pub(super) fn copy(&mut self, piece: &Range<u64>, writer: &mut (impl Write + ?Sized)) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(piece.start))?;
        let copied = io::copy(&mut Read::by_ref(&mut self.file).take(piece.end - piece.start), writer)?;
        if copied == piece.end - piece.start { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_back_in_any_order() {
        let scratch = Scratch::new().unwrap();
        let pieces: Vec<_> = ["one", "", "three"].iter().map(|text| scratch.keep(text.as_bytes()).unwrap()).collect();
        let mut reader = scratch.into_reader().unwrap();
        let mut out = Vec::new();
        for piece in pieces.iter().rev() {
            reader.copy(piece, &mut out).unwrap();
            out.push(b'|');
        }
        assert_eq!(out, b"three||one|");
        assert_eq!(reader.copy(&(5..20), &mut out).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
