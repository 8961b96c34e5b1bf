//! What the reader tells whoever makes something of a text, and the maker of trees.

use std::borrow::Cow;
use std::vec::Drain;

use super::keys::Key;
use super::{Member, Node, Number, Span, Value};

/// A value without parts.
#[derive(Debug)]
pub(super) enum Scalar<'a> {
    Null,
    Bool(bool),
    /// As it was written.
    Number(&'a str),
    /// With its escapes resolved; owned only if it has any.
    String(Cow<'a, str>),
}

/// How a string is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringForm {
    /// As it is read.
    Plain,
    /// With escapes.
    Escaped,
}

impl StringForm {
    /// The form of a string that the reader has read: it borrows what has no escapes.
    #[expect(clippy::ptr_arg, reason = "whether it borrows is what counts")]
    pub(super) fn of(text: &Cow<'_, str>) -> Self {
        if matches!(text, Cow::Borrowed(_)) { Self::Plain } else { Self::Escaped }
    }
}

/// What kind of value has parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    Array,
    Object,
}

/// Makes something of a text, told value by value in the order of the text.
pub(super) trait Build<'a> {
    /// A value without parts.
    fn scalar(&mut self, span: Span, scalar: Scalar<'a>);

    /// An array or an object begins; the answer is given back when it ends.
    fn open(&mut self, _start: usize, _container: Container) -> usize {
        0
    }

    /// A key; its value is what comes next.
    fn key(&mut self, _span: Span, _form: StringForm) {}

    /// The last value stands in the place of an earlier member with the same key, which is an error that was noted.
    fn replace(&mut self, _mark: usize, _position: usize) {}

    /// An array ends.
    fn close_array(&mut self, _mark: usize, _span: Span) {}

    /// An object ends; its keys, in the order in which their values came.
    fn close_object(&mut self, _mark: usize, _span: Span, _keys: Drain<'_, Key<'a>>) {}
}

/// Makes a tree.
#[derive(Debug, Default)]
pub(super) struct TreeBuilder<'a> {
    /// Values whose container is not complete: each takes its own in one piece when it ends, so that nothing grows step
    /// by step.
    values: Vec<Node<'a>>,
}

impl<'a> TreeBuilder<'a> {
    /// The tree.
    pub(super) fn finish(mut self) -> Option<Node<'a>> {
        self.values.pop()
    }
}

impl<'a> Build<'a> for TreeBuilder<'a> {
    fn scalar(&mut self, span: Span, scalar: Scalar<'a>) {
        let value = match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Number(text) => Value::Number(Number::new(text)),
            Scalar::String(text) => Value::String(text),
        };
        self.values.push(Node { span, value });
    }

    fn open(&mut self, _: usize, _: Container) -> usize {
        self.values.len()
    }

    fn replace(&mut self, mark: usize, position: usize) {
        if let Some(value) = self.values.pop() {
            self.values[mark + position] = value;
        }
    }

    fn close_array(&mut self, mark: usize, span: Span) {
        let items = self.values.drain(mark..).collect();
        self.values.push(Node { span, value: Value::Array(items) });
    }

    fn close_object(&mut self, mark: usize, span: Span, keys: Drain<'_, Key<'a>>) {
        let members =
            keys.zip(self.values.drain(mark..)).map(|((key, key_span), value)| Member { key, key_span, value });
        let members = members.collect();
        self.values.push(Node { span, value: Value::Object(members) });
    }
}
