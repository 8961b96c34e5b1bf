//! The subset of JSON Schema that `structured_output` evaluates; everything outside it is refused.

use std::collections::HashSet;

use skill_lift_text::python;

use super::report::Report;
use super::shape;
use crate::json::{Node, Span, Value};

const KEYWORDS: [&str; 9] =
    ["type", "properties", "required", "additionalProperties", "items", "enum", "const", "minItems", "maxItems"];
const TYPES: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];

/// Checks a schema and its sub-schemas.
pub(super) fn check(report: &mut Report<'_>, schema: &Node<'_>) {
    check_at(report, schema, "$");
}

fn refuse(report: &mut Report<'_>, span: Span, path: &str, message: &str) {
    report.error("schema-subset", span, format!("structured_output schema is unsupported: {path}: {message}"));
}

fn check_at(report: &mut Report<'_>, schema: &Node<'_>, path: &str) {
    let Some(members) = schema.members().filter(|members| !members.is_empty()) else {
        refuse(report, schema.span, path, "schema must be a non-empty object");
        return;
    };
    let mut unknown: Vec<&str> =
        members.iter().map(|member| member.key.as_ref()).filter(|key| !KEYWORDS.contains(key)).collect();
    unknown.sort_unstable();
    if !unknown.is_empty() {
        refuse(report, schema.span, path, &format!("unsupported keyword(s): {}", unknown.join(", ")));
    }
    let types = check_types(report, schema, path);
    let keywords =
        [("object", ["properties", "required", "additionalProperties"]), ("array", ["items", "minItems", "maxItems"])];
    for (needed, keys) in keywords {
        for key in keys {
            if let Some(member) = schema.member(key).filter(|_| !types.iter().any(|name| name == needed)) {
                refuse(report, member.key_span, path, &format!("{key} needs type {needed}"));
            }
        }
    }
    check_object_keywords(report, schema, path);
    check_array_keywords(report, schema, path);
    check_enum(report, schema, path);
}

fn check_types(report: &mut Report<'_>, schema: &Node<'_>, path: &str) -> Vec<String> {
    let Some(node) = schema.get("type") else { return Vec::new() };
    let names = shape::text(node).map(|name| vec![name.to_owned()]).or_else(|| shape::texts(node));
    let known = |names: &Vec<String>| names.iter().all(|name| TYPES.contains(&name.as_str()));
    match names.filter(known) {
        Some(names) if shape::repeated(&names).is_none() => names,
        _ => {
            let message = format!("type must be one of {} or a list of different ones", TYPES.join(", "));
            refuse(report, node.span, path, &message);
            Vec::new()
        }
    }
}

fn check_object_keywords(report: &mut Report<'_>, schema: &Node<'_>, path: &str) {
    let properties = schema.get("properties");
    if let Some(node) = properties {
        match node.members() {
            None => refuse(report, node.span, path, "properties must be an object"),
            Some(members) => {
                for member in members {
                    if member.key.is_empty() {
                        refuse(report, member.key_span, path, "a property needs a non-empty name");
                    }
                    check_at(report, &member.value, &format!("{path}.properties.{}", member.key));
                }
            }
        }
    }
    if let Some(node) = schema.get("required") {
        match shape::filled_strings(node) {
            Some(names) if shape::repeated(&names).is_none() => match properties.and_then(Node::members) {
                None => refuse(report, node.span, path, "required needs properties"),
                Some(members) => {
                    let known: HashSet<&str> = members.iter().map(|member| member.key.as_ref()).collect();
                    if let Some(name) = names.iter().find(|name| !known.contains(name.as_str())) {
                        let message = format!("required names {}, which properties lacks", python::repr_str(name));
                        refuse(report, node.span, path, &message);
                    }
                }
            },
            _ => refuse(report, node.span, path, "required must be a list of different non-empty strings"),
        }
    }
    if let Some(node) = schema.get("additionalProperties").filter(|node| node.as_bool().is_none()) {
        refuse(report, node.span, path, "additionalProperties must be boolean");
    }
}

fn check_array_keywords(report: &mut Report<'_>, schema: &Node<'_>, path: &str) {
    if let Some(items) = schema.get("items") {
        check_at(report, items, &format!("{path}.items"));
    }
    let mut bound = |key: &str| {
        let node = schema.get(key)?;
        let value = shape::count(node);
        if value.is_none() {
            refuse(report, node.span, path, &format!("{key} must be a non-negative integer"));
        }
        value
    };
    if let (Some(min), Some(max)) = (bound("minItems"), bound("maxItems"))
        && min > max
    {
        refuse(report, schema.span, path, "minItems is above maxItems");
    }
}

fn check_enum(report: &mut Report<'_>, schema: &Node<'_>, path: &str) {
    let Some(node) = schema.get("enum") else { return };
    match node.items().filter(|items| !items.is_empty()) {
        None => refuse(report, node.span, path, "enum must be a non-empty list"),
        Some(items) => {
            let mut seen = HashSet::new();
            if let Some(twice) = items.iter().find(|item| !seen.insert(equality_key(item))) {
                refuse(report, twice.span, path, "enum values must differ");
            }
        }
    }
}

/// A text that two values share exactly when they are equal as JSON: numbers by value, objects without order.
fn equality_key(node: &Node<'_>) -> String {
    match &node.value {
        Value::Number(number) if !number.is_integer() && number.as_f64().fract() == 0.0 => {
            let text = format!("{:.0}", number.as_f64());
            if text == "-0" { "0".to_owned() } else { text }
        }
        Value::Array(items) => format!("[{}]", items.iter().map(equality_key).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let mut parts: Vec<_> =
                members.iter().map(|m| format!("{}:{}", python::repr_str(&m.key), equality_key(&m.value))).collect();
            parts.sort_unstable();
            format!("{{{}}}", parts.join(","))
        }
        _ => node.python_repr(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, parse};

    #[test]
    fn equal_values_have_equal_keys() {
        let key = |text: &str| equality_key(&parse(text, Limits::SUITE).unwrap());
        assert_eq!(key("1"), key("1.0"));
        assert_eq!(key("-0.0"), key("0"));
        assert_eq!(key(r#"{"a":1,"b":[2]}"#), key(r#"{"b":[2.0],"a":1}"#));
        assert_ne!(key("1"), key("true"));
        assert_ne!(key("1"), key("\"1\""));
        assert_ne!(key("[1,2]"), key("[2,1]"));
    }
}
