//! A column of lists of texts, read without an object a row: hardly any list has an entry.

use polars::prelude::*;

/// The texts of all rows one after the other, with where those of each row begin and end.
pub(super) struct TextLists {
    texts: StringChunked,
    bounds: Vec<(usize, usize)>,
}

impl TextLists {
    pub(super) fn of(frame: &DataFrame, name: &str) -> Result<Self, PolarsError> {
        let lists = frame.column(name)?.list()?.rechunk();
        let chunks = lists.downcast_iter();
        let bounds = chunks.flat_map(|chunk| (0..chunk.len()).map(|row| chunk.offsets().start_end(row))).collect();
        Ok(Self { texts: lists.get_inner().str()?.clone(), bounds })
    }
}

/// The texts of a row.
pub(super) fn texts(lists: &TextLists, row: usize) -> Vec<String> {
    let (start, end) = lists.bounds.get(row).copied().unwrap_or_default();
    (start..end).filter_map(|at| lists.texts.get(at)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_those_of_their_rows() {
        let mut builder = ListStringChunkedBuilder::new("a".into(), 4, 4);
        let rows: [&[&str]; 4] = [&["x", "y"], &[], &["z"], &[]];
        rows.iter().for_each(|row| builder.append_values_iter(row.iter().copied()));
        let column = builder.finish().into_column();
        let frame = DataFrame::new(4, vec![column]).unwrap();
        let read = |frame: &DataFrame| -> Vec<Vec<String>> {
            let lists = TextLists::of(frame, "a").unwrap();
            (0..frame.height()).map(|row| texts(&lists, row)).collect()
        };
        assert_eq!(read(&frame), rows);
        // a part of a frame, and one of several chunks
        assert_eq!(read(&frame.slice(1, 2)), rows[1..3]);
        let twice = frame.slice(2, 2).vstack(&frame.slice(0, 2)).unwrap();
        assert_eq!(read(&twice), [rows[2], rows[3], rows[0], rows[1]]);
    }
}
