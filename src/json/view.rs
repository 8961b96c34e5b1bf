//! One way to look at a JSON value, whether it is a tree or a place in a text.

use std::borrow::Cow;

use super::{Item, Node, Number};

/// A JSON value that is read but not held. `'v` is the life of its text.
pub trait View<'v>: Copy {
    /// The value of a key, if this is an object that has it.
    fn member(self, key: &str) -> Option<Self>;
    /// The string, if this is one.
    fn string(self) -> Option<Cow<'v, str>>;
    /// The number, if this is one.
    fn number(self) -> Option<Number<'v>>;
    /// The boolean, if this is one.
    fn boolean(self) -> Option<bool>;
    /// Whether this is `null`.
    fn null(self) -> bool;
    /// Whether this is an object.
    fn object(self) -> bool;
}

impl<'v> View<'v> for Item<'_, 'v> {
    fn member(self, key: &str) -> Option<Self> {
        self.get(key)
    }

    fn string(self) -> Option<Cow<'v, str>> {
        self.as_str()
    }

    fn number(self) -> Option<Number<'v>> {
        self.as_number()
    }

    fn boolean(self) -> Option<bool> {
        self.as_bool()
    }

    fn null(self) -> bool {
        self.is_null()
    }

    fn object(self) -> bool {
        self.is_object()
    }
}

impl<'v> View<'v> for &'v Node<'_> {
    fn member(self, key: &str) -> Option<Self> {
        self.get(key)
    }

    fn string(self) -> Option<Cow<'v, str>> {
        self.as_str().map(Cow::Borrowed)
    }

    fn number(self) -> Option<Number<'v>> {
        self.as_number().map(|number| Number::new(number.text()))
    }

    fn boolean(self) -> Option<bool> {
        self.as_bool()
    }

    fn null(self) -> bool {
        self.is_null()
    }

    fn object(self) -> bool {
        self.members().is_some()
    }
}
