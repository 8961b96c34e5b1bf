//! The fields of one object, each of the type that it must have.

use crate::json::Item;
use crate::json::pointer::member;
use crate::runs::claims::error::ClaimsError;
use crate::runs::claims::figures;
use crate::runs::claims::places::items;

/// An object and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'p, 't, 'a> {
    pub(super) item: Item<'t, 'a>,
    pub(super) pointer: &'p str,
}

impl<'t, 'a> Fields<'_, 't, 'a> {
    /// The value of a key; `null` is none.
    pub(super) fn get(self, key: &str) -> Option<Item<'t, 'a>> {
        self.item.get(key).filter(|value| !value.is_null())
    }

    /// Says that a value is not what it must be.
    pub(super) fn refuse(self, key: &str, expected: &str) -> ClaimsError {
        let found = self.item.get(key).map_or_else(|| "missing".to_owned(), figures::shown);
        ClaimsError::Row { pointer: member(self.pointer, key), problem: format!("{expected} is expected, not {found}") }
    }

    pub(super) fn text(self, key: &str) -> Result<Option<String>, ClaimsError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let text = value.as_str().ok_or_else(|| self.refuse(key, "a text"))?;
        Ok(Some(text.into_owned()).filter(|text| !text.trim().is_empty()))
    }

    pub(super) fn flag(self, key: &str) -> Result<Option<bool>, ClaimsError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| self.refuse(key, "true or false"))
    }

    /// A whole number from 0.
    pub(super) fn count(self, key: &str) -> Result<Option<u32>, ClaimsError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let count = figures::count(value).and_then(|count| u32::try_from(count).ok());
        count.map(Some).ok_or_else(|| self.refuse(key, "a whole number from 0 to 4294967295"))
    }

    pub(super) fn texts(self, key: &str) -> Result<Vec<String>, ClaimsError> {
        let refuse = || self.refuse(key, "a list of texts");
        let list = self.list(key, "a list of texts")?;
        list.into_iter().map(|item| item.as_str().map(|text| text.into_owned()).ok_or_else(refuse)).collect()
    }

    /// The items of a list; none where there is no list.
    pub(super) fn list(self, key: &str, expected: &str) -> Result<Vec<Item<'t, 'a>>, ClaimsError> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        if value.items().is_none() {
            return Err(self.refuse(key, expected));
        }
        Ok(items(value).collect())
    }
}
