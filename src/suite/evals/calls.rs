//! Checks of the trace, written as `check: {kind, …}`.

use super::remark::Remark;
use super::rule::Compiler;
use crate::json::Node;
use crate::suite::check::{CallShape, Check};
use crate::suite::model::AssertionType;

/// The check of the trace that an object states; `None` for a kind that a judge decides.
///
/// # Errors
/// A pattern that cannot be read.
pub(super) fn read(check: &Node<'_>, compiler: &Compiler<'_>) -> Result<Option<(AssertionType, Check)>, Remark> {
    let shape = |key: &str| check.get(key).map(|node| shape(node, compiler)).transpose().map(Option::flatten);
    Ok(match check.get("kind").and_then(Node::as_str) {
        Some("no_write_of") => shape("match")?.map(|call| (AssertionType::NoWriteOf, Check::NoWriteOf { call })),
        Some("write_ordering") => match (shape("first")?, shape("then")?) {
            (Some(first), Some(then)) => Some((AssertionType::WriteOrdering, Check::WriteOrdering { first, then })),
            _ => None,
        },
        _ => None,
    })
}

/// Which calls an object means; `None` when it says nothing, or something that is not known here.
fn shape(node: &Node<'_>, compiler: &Compiler<'_>) -> Result<Option<CallShape>, Remark> {
    let members = node.members().unwrap_or_default();
    let is_known = |key: &str| matches!(key, "tool" | "args_contain" | "args_match");
    if members.is_empty() || !members.iter().all(|member| is_known(&member.key)) {
        return Ok(None);
    }
    let tool = match node.get("tool") {
        None => None,
        Some(tool) => match tool.as_str() {
            Some(tool) => Some(tool.to_owned()),
            None => return Ok(None),
        },
    };
    let (Some(contains), Some(patterns)) = (arguments(node, "args_contain"), arguments(node, "args_match")) else {
        return Ok(None);
    };
    let mut matches = Vec::new();
    for (key, source) in patterns {
        matches.push((key, compiler.pattern(source, false)?));
    }
    let is_empty = tool.is_none() && contains.is_empty() && matches.is_empty();
    Ok((!is_empty).then_some(CallShape { tool, contains, matches }))
}

/// Arguments with their texts; `None` when a value is no text.
fn arguments(node: &Node<'_>, key: &str) -> Option<Vec<(String, String)>> {
    let Some(node) = node.get(key) else { return Some(Vec::new()) };
    node.members()?.iter().map(|member| Some((member.key.to_string(), member.value.as_str()?.to_owned()))).collect()
}
