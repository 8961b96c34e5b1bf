//! The subset of JSON Schema that `structured_output` evaluates; the suite has refused everything outside of it.

use std::collections::{HashMap, HashSet};

use skill_lift_text::python;

use crate::json::{Node, Value};

/// The first mismatches of a value and a schema, at most `limit`, in the order of evaluation.
pub(super) fn mismatches(instance: &Node<'_>, schema: &Node<'_>, limit: usize) -> Vec<String> {
    let mut checker = Checker { found: Vec::new(), limit };
    checker.value(instance, schema, "$");
    checker.found
}

struct Checker {
    found: Vec<String>,
    limit: usize,
}

impl Checker {
    fn is_full(&self) -> bool {
        self.found.len() >= self.limit
    }

    fn add(&mut self, path: &str, message: &str) {
        if !self.is_full() {
            self.found.push(format!("{path}: {message}"));
        }
    }

    fn value(&mut self, instance: &Node<'_>, schema: &Node<'_>, path: &str) {
        if self.is_full() {
            return;
        }
        if let Some(expected) = schema.get("const").filter(|expected| *expected != instance) {
            self.add(path, &format!("expected const {}, got {}", expected.python_repr(), instance.python_repr()));
        }
        if let Some(allowed) = schema.get("enum") {
            let is_allowed = allowed.items().is_some_and(|items| items.contains(instance));
            if !is_allowed {
                self.add(path, &format!("{} not in enum {}", instance.python_repr(), allowed.python_repr()));
            }
        }
        if let Some(types) = schema.get("type").filter(|types| !is_of_type(instance, types)) {
            self.add(path, &format!("expected type {}, got {}", types.python_str(), python_type(instance)));
            return;
        }
        match &instance.value {
            Value::Object(_) => self.object(instance, schema, path),
            Value::Array(items) => self.array(items, schema, path),
            _ => {}
        }
    }

    fn object(&mut self, instance: &Node<'_>, schema: &Node<'_>, path: &str) {
        let members = instance.members().unwrap_or_default();
        let values: HashMap<&str, &Node<'_>> =
            members.iter().map(|member| (member.key.as_ref(), &member.value)).collect();
        let required = schema.get("required").and_then(Node::items).unwrap_or_default();
        for key in required.iter().filter_map(Node::as_str).filter(|key| !values.contains_key(key)) {
            self.add(path, &format!("missing required key {}", python::repr_str(key)));
        }
        let properties = schema.get("properties").and_then(Node::members).unwrap_or_default();
        if schema.get("additionalProperties").and_then(Node::as_bool) == Some(false) {
            let known: HashSet<&str> = properties.iter().map(|property| property.key.as_ref()).collect();
            let mut extra: Vec<&str> = values.keys().copied().filter(|key| !known.contains(key)).collect();
            extra.sort_unstable();
            for key in extra {
                self.add(path, &format!("unexpected key {}", python::repr_str(key)));
            }
        }
        for property in properties {
            if let Some(value) = values.get(property.key.as_ref()) {
                self.value(value, &property.value, &format!("{path}.{}", property.key));
            }
        }
    }

    fn array(&mut self, items: &[Node<'_>], schema: &Node<'_>, path: &str) {
        let count = items.len();
        let bound = |key: &str| {
            let number = schema.get(key)?.as_number()?;
            Some((u64::try_from(number.as_i64()?).ok()?, number.python_repr()))
        };
        if let Some((_, shown)) = bound("minItems").filter(|(least, _)| (count as u64) < *least) {
            self.add(path, &format!("{count} items < minItems {shown}"));
        }
        if let Some((_, shown)) = bound("maxItems").filter(|(most, _)| (count as u64) > *most) {
            self.add(path, &format!("{count} items > maxItems {shown}"));
        }
        if let Some(schema) = schema.get("items") {
            for (index, item) in items.iter().enumerate() {
                if self.is_full() {
                    return;
                }
                self.value(item, schema, &format!("{path}[{index}]"));
            }
        }
    }
}

/// Whether a value has one of the types of a schema, given as a name or as a list of names.
fn is_of_type(instance: &Node<'_>, types: &Node<'_>) -> bool {
    let is_one = |name: &str| match &instance.value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => name == "number" || (name == "integer" && number.is_integer()),
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    };
    match &types.value {
        Value::Array(names) => names.iter().filter_map(Node::as_str).any(is_one),
        _ => types.as_str().is_some_and(is_one),
    }
}

/// The name of the type that Python's `json` reads a value as.
fn python_type(node: &Node<'_>) -> &'static str {
    match &node.value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_integer() => "int",
        Value::Number(_) => "float",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, parse};

    fn check(instance: &str, schema: &str) -> String {
        let (instance, schema) = (parse(instance, Limits::SIDECAR).unwrap(), parse(schema, Limits::SUITE).unwrap());
        mismatches(&instance, &schema, 5).join("; ")
    }

    #[test]
    fn types_are_those_of_json() {
        assert_eq!(check("1.0", r#"{"type": "integer"}"#), "$: expected type integer, got float");
        assert_eq!(check("true", r#"{"type": "integer"}"#), "$: expected type integer, got bool");
        assert_eq!(check("true", r#"{"type": "number"}"#), "$: expected type number, got bool");
        assert_eq!(check("12", r#"{"type": "number"}"#), "");
        assert_eq!(check("null", r#"{"type": ["string", "null"]}"#), "");
        let expected = "$: expected type ['string', 'null'], got dict";
        assert_eq!(check("{}", r#"{"type": ["string", "null"]}"#), expected);
    }

    #[test]
    fn values_are_compared_as_json() {
        assert_eq!(check("true", r#"{"const": 1}"#), "$: expected const 1, got True");
        assert_eq!(check("1.0", r#"{"const": 1}"#), "");
        assert_eq!(check(r#""z""#, r#"{"enum": ["x", 1.5, null]}"#), "$: 'z' not in enum ['x', 1.5, None]");
        let both = "$: expected const 'a', got 2; $: 2 not in enum ['a']; $: expected type string, got int";
        assert_eq!(check("2", r#"{"const": "a", "enum": ["a"], "type": "string"}"#), both);
    }

    #[test]
    fn keys_are_checked_in_a_fixed_order() {
        let schema = r#"{"type": "object", "required": ["q", "p"], "additionalProperties": false,
            "properties": {"p": {"type": "string"}, "q": {"type": "string"}, "a": {"type": "null"}}}"#;
        assert_eq!(
            check(r#"{"z": 1, "a": 2, "Z": 3}"#, schema),
            "$: missing required key 'q'; $: missing required key 'p'; $: unexpected key 'Z'; $: unexpected key 'z'; \
             $.a: expected type null, got int"
        );
        assert_eq!(
            check(r#"{"q": 1, "p": 2}"#, schema),
            "$.p: expected type string, got int; $.q: expected type string, got int"
        );
    }

    #[test]
    fn items_are_counted_and_checked() {
        let schema = r#"{"type": "array", "minItems": 3, "items": {"type": "array", "maxItems": 1}}"#;
        assert_eq!(
            check("[[1, 2], 3]", schema),
            "$: 2 items < minItems 3; $[0]: 2 items > maxItems 1; $[1]: expected type array, got int"
        );
        let nested = r#"{"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {"b": {"const": 1}}}}}}"#;
        assert_eq!(check(r#"{"a": [{"b": 2}]}"#, nested), "$.a[0].b: expected const 1, got 2");
    }

    #[test]
    fn evaluation_stops_after_the_limit() {
        let schema = r#"{"type": "array", "items": {"type": "string"}}"#;
        assert_eq!(check("[1, 2, 3, 4, 5, 6, 7]", schema).matches("got int").count(), 5);
    }
}
