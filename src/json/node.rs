//! The tree that a JSON text is read into. It borrows strings and numbers from the text.

use std::borrow::Cow;

use skill_lift_text::python;

/// A half-open range of byte offsets in the text that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

/// One value and where it stands.
#[derive(Debug, Clone)]
pub struct Node<'a> {
    /// Where the value stands in the text.
    pub span: Span,
    /// The value.
    pub value: Value<'a>,
}

/// A JSON value. Objects keep the order of the text.
#[derive(Debug, Clone)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as it was written.
    Number(Number<'a>),
    /// A string with its escapes resolved.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Node<'a>>),
    /// An object, members in the order of the text.
    Object(Vec<Member<'a>>),
}

/// A member of an object.
#[derive(Debug, Clone)]
pub struct Member<'a> {
    /// The key with its escapes resolved.
    pub key: Cow<'a, str>,
    /// Where the key stands, quotes included.
    pub key_span: Span,
    /// The value.
    pub value: Node<'a>,
}

/// A finite JSON number, kept as the text that was read so that nothing is lost.
#[derive(Debug, Clone)]
pub struct Number<'a>(Cow<'a, str>);

impl<'a> Number<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// The number as it was written.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether it was written without fraction and exponent (Python reads such a number as an `int`).
    pub fn is_integer(&self) -> bool {
        !self.0.contains(['.', 'e', 'E'])
    }

    /// The value as an integer, if it was written as one and fits.
    pub fn as_i64(&self) -> Option<i64> {
        if self.is_integer() { self.0.parse().ok() } else { None }
    }

    /// The nearest `f64`; finite for every number that the reader accepts in float form.
    pub fn as_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::INFINITY)
    }

    /// Python's `repr` of the number.
    pub fn python_repr(&self) -> String {
        if !self.is_integer() {
            python::float_repr(self.as_f64())
        } else if self.0 == "-0" {
            "0".to_owned()
        } else {
            self.0.clone().into_owned()
        }
    }

    fn into_owned(self) -> Number<'static> {
        Number(Cow::Owned(self.0.into_owned()))
    }
}

impl<'a> Node<'a> {
    /// A node without a place in a text.
    pub fn synthetic(value: Value<'a>) -> Self {
        Self { span: Span::default(), value }
    }

    /// The members, if this is an object.
    pub fn members(&self) -> Option<&[Member<'a>]> {
        match &self.value {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The items, if this is an array.
    pub fn items(&self) -> Option<&[Node<'a>]> {
        match &self.value {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The value of a key, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.member(key).map(|member| &member.value)
    }

    /// The member with a key, if this is an object that has it.
    pub fn member(&self, key: &str) -> Option<&Member<'a>> {
        self.members()?.iter().find(|member| member.key == key)
    }

    /// The string, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The number, if this is one.
    pub fn as_number(&self) -> Option<&Number<'a>> {
        match &self.value {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// The name of the value's type as JSON names it.
    pub fn type_name(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }

    /// Python's truth value: empty, zero, false and null are false.
    pub fn is_truthy(&self) -> bool {
        match &self.value {
            Value::Null => false,
            Value::Bool(value) => *value,
            Value::Number(number) => number.as_f64() != 0.0,
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
        }
    }

    /// Python's `repr` of the value: `True`, `None`, `{'k': [1, 2.0]}`.
    pub fn python_repr(&self) -> String {
        match &self.value {
            Value::Null => "None".to_owned(),
            Value::Bool(true) => "True".to_owned(),
            Value::Bool(false) => "False".to_owned(),
            Value::Number(number) => number.python_repr(),
            Value::String(text) => python::repr_str(text),
            Value::Array(items) => {
                let parts: Vec<_> = items.iter().map(Node::python_repr).collect();
                format!("[{}]", parts.join(", "))
            }
            Value::Object(members) => {
                let parts: Vec<_> = members
                    .iter()
                    .map(|m| format!("{}: {}", python::repr_str(&m.key), m.value.python_repr()))
                    .collect();
                format!("{{{}}}", parts.join(", "))
            }
        }
    }

    /// Python's `str` of the value: as `repr`, but a string stays as it is.
    pub fn python_str(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone().into_owned(),
            _ => self.python_repr(),
        }
    }

    /// The same tree, independent of the text it was read from.
    pub fn into_owned(self) -> Node<'static> {
        let value = match self.value {
            Value::Null => Value::Null,
            Value::Bool(value) => Value::Bool(value),
            Value::Number(number) => Value::Number(number.into_owned()),
            Value::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Value::Array(items) => Value::Array(items.into_iter().map(Node::into_owned).collect()),
            Value::Object(members) => Value::Object(
                members
                    .into_iter()
                    .map(|m| Member {
                        key: Cow::Owned(m.key.into_owned()),
                        key_span: m.key_span,
                        value: m.value.into_owned(),
                    })
                    .collect(),
            ),
        };
        Node { span: self.span, value }
    }
}
