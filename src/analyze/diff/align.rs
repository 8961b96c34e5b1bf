//! Makes the cases of two sides meet that only go by different names.

use std::collections::{BTreeMap, BTreeSet};

use super::side::{Side, SideOrigin};

/// Makes the cases of two sides meet.
///
/// A case that has no namesake on the other side is the one there that alone has its name (as id or as name), else, of a
/// result file beside a tree, the one that the tree calls `eval-<id>`.
pub fn align_cases(old: &mut Side, new: &mut Side) {
    rename(old, new);
    rename(new, old);
}

fn rename(side: &mut Side, other: &Side) {
    let renamed = new_names(side, other);
    let new_name = |id: &String| renamed.get(id.as_str());
    for row in &mut side.claims.rows {
        if let Some(name) = new_name(&row.case.id) {
            row.case.id.clone_from(name);
        }
    }
    for flag in &mut side.claims.flags {
        if let Some(name) = new_name(&flag.case) {
            flag.case.clone_from(name);
        }
    }
    for (id, name) in &renamed {
        if let Some(text) = side.cases.remove(id) {
            side.cases.insert(name.clone(), text);
        }
    }
}

/// The cases of a side that get another id; no two of them the same, and none that the side has already.
fn new_names(side: &Side, other: &Side) -> BTreeMap<String, String> {
    let (ours, theirs) = (side.case_ids(), other.case_ids());
    let is_file = |side: &Side| matches!(side.origin, SideOrigin::File(_));
    let by_number = is_file(side) && !is_file(other);
    let by_name = ids_by_name(other);
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (id, name) in names(side) {
        if theirs.contains(id) {
            continue;
        }
        let numbered = Some(format!("eval-{id}")).filter(|_| by_number);
        let named = name.and_then(|name| match theirs.get(name) {
            Some(id) => Some((*id).to_owned()),
            None => by_name.get(name).copied().flatten().map(str::to_owned),
        });
        let target = named.or(numbered).filter(|target| theirs.contains(target.as_str()));
        if let Some(target) = target.filter(|target| !ours.contains(target.as_str())) {
            found.entry(target).or_default().push(id);
        }
    }
    // two cases that would become one stay two
    let unique = found.into_iter().filter(|(_, ids)| ids.len() == 1);
    unique.flat_map(|(target, ids)| ids.into_iter().map(move |id| (id.to_owned(), target.clone()))).collect()
}

/// Each case with its name.
fn names(side: &Side) -> BTreeMap<&str, Option<&str>> {
    let mut names: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for row in &side.claims.rows {
        let name = names.entry(&row.case.id).or_default();
        *name = name.or(row.case.name.as_deref());
    }
    names
}

/// The id of each name; `None` of a name that several cases have.
fn ids_by_name(side: &Side) -> BTreeMap<&str, Option<&str>> {
    let mut ids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (id, name) in names(side) {
        if let Some(name) = name {
            ids.entry(name).or_default().insert(id);
        }
    }
    ids.into_iter().map(|(name, ids)| (name, if ids.len() == 1 { ids.into_iter().next() } else { None })).collect()
}
