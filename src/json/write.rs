//! Writing JSON: two-space indentation, order as given, non-ASCII unescaped, never a NaN.

use std::io;

use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde_json::ser::Formatter;

use super::{Node, Number, Value};

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Number(number) => number.serialize(serializer),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(items) => {
                let mut sequence = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    sequence.serialize_element(item)?;
                }
                sequence.end()
            }
            Value::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for member in members {
                    map.serialize_entry(member.key.as_ref(), &member.value)?;
                }
                map.end()
            }
        }
    }
}

impl Serialize for Number<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.is_integer() {
            return serializer.serialize_f64(self.as_f64());
        }
        if let Some(value) = self.as_i64() {
            return serializer.serialize_i64(value);
        }
        // wider than 64 bits: pass the digits through
        let raw =
            serde_json::value::RawValue::from_string(self.text().to_owned()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// The pretty form, starting at a given depth so that a value can be written inside a document that is streamed.
pub struct Indented {
    depth: usize,
    has_value: bool,
}

impl Indented {
    /// A formatter for a value that stands `depth` levels deep.
    pub fn at_depth(depth: usize) -> Self {
        Self { depth, has_value: false }
    }
}

/// Writes a line break and the indentation of a depth.
///
/// # Errors
/// Those of the writer.
pub fn new_line<W: ?Sized + io::Write>(writer: &mut W, depth: usize) -> io::Result<()> {
    const LINE: &[u8] = b"\n                                                                ";
    const DEPTHS: usize = (LINE.len() - 1) / 2;
    writer.write_all(&LINE[..=2 * depth.min(DEPTHS)])?;
    for _ in DEPTHS..depth {
        writer.write_all(b"  ")?;
    }
    Ok(())
}

impl Formatter for Indented {
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.has_value = false;
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.has_value {
            new_line(writer, self.depth)?;
        }
        writer.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        new_line(writer, self.depth)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.has_value = false;
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.has_value {
            new_line(writer, self.depth)?;
        }
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.begin_array_value(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }
}

/// Writes a value in the pretty form as it would stand `depth` levels deep.
///
/// # Errors
/// Those of the writer.
pub fn pretty<W: io::Write, T: Serialize + ?Sized>(writer: W, value: &T, depth: usize) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(writer, Indented::at_depth(depth));
    value.serialize(&mut serializer).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, parse};

    #[test]
    fn pretty_form_at_a_depth() {
        let node = parse(
            r#"{"a":[],"b":{},"c":[1,2.0,"é\u0001"],"n":123456789012345678901234567890,"z":-0.0}"#,
            Limits::SUITE,
        )
        .unwrap();
        let mut out = Vec::new();
        pretty(&mut out, &node, 1).unwrap();
        let expected = "{\n    \"a\": [],\n    \"b\": {},\n    \"c\": [\n      1,\n      2.0,\n      \"é\\u0001\"\n    ],\n    \"n\": 123456789012345678901234567890,\n    \"z\": -0.0\n  }";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
