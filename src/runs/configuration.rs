//! What the name of an arm says: its role, and the model and the label that tools write into the same name.

use skill_lift_contract::run_key::model_of_directory;

/// Names of the arm that has the skill.
const TREATMENTS: [&str; 6] = ["with_skill", "with-skill", "new_skill", "skill", "treatment", "candidate"];

/// Names of the arm that has none.
const CONTROLS: [&str; 6] = ["without_skill", "without-skill", "no_skill", "baseline", "control", "bare"];

/// The name of the arm that has an earlier version of the skill.
const OLD_SKILL: &str = "old_skill";

/// A role name that is no ending: what stands before `_skill` says which skill (`best_skill`), not which model.
const NOT_AN_ENDING: &str = "skill";

/// What an arm is compared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The skill was there.
    Treatment,
    /// The skill was not there.
    Control,
    /// An earlier version of the skill was there: the control only where there is no other one.
    OldSkill,
    /// Anything else; it is reported and never paired.
    Other,
}

impl Role {
    /// The arm that has the role, as reports name it; the others keep their own names.
    pub fn variant(self) -> Option<&'static str> {
        match self {
            Self::Treatment => Some(TREATMENTS[0]),
            Self::Control => Some(CONTROLS[0]),
            Self::OldSkill => Some(OLD_SKILL),
            Self::Other => None,
        }
    }
}

/// The name of an arm, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Configuration {
    /// The name as it was written.
    pub written: String,
    /// `claude` in `claude_with_skill`.
    pub model: Option<String>,
    /// `iter4` in `with_skill (iter4)`.
    pub label: Option<String>,
    /// What the arm is compared as.
    pub role: Role,
    /// The name without model and label.
    name: String,
}

impl Configuration {
    /// Takes a name apart.
    ///
    /// One trailing label in parentheses goes first. If what is left ends in a role name after `_`, the part before
    /// it is the model.
    pub fn parse(written: &str) -> Self {
        let (rest, label) = split_label(written.trim());
        let (model, name) = split_model(rest);
        Self {
            written: written.to_owned(),
            model: model.map(|model| model_of_directory(model, None).into_owned()),
            label: label.map(str::to_owned),
            role: role(name).unwrap_or(Role::Other),
            name: name.to_owned(),
        }
    }

    /// The variant as reports name it: `with_skill`, `without_skill`, `old_skill`, else the name without model and label.
    pub fn variant(&self) -> &str {
        self.role.variant().unwrap_or(&self.name)
    }
}

/// The role that the arm with the skill is compared with, of all roles that occur: a control, else the earlier version.
pub fn control_among(roles: impl IntoIterator<Item = Role>) -> Option<Role> {
    let mut found = None;
    for role in roles {
        match role {
            Role::Control => return Some(Role::Control),
            Role::OldSkill => found = Some(Role::OldSkill),
            Role::Treatment | Role::Other => {}
        }
    }
    found
}

fn role(name: &str) -> Option<Role> {
    if TREATMENTS.contains(&name) {
        Some(Role::Treatment)
    } else if CONTROLS.contains(&name) {
        Some(Role::Control)
    } else {
        (name == OLD_SKILL).then_some(Role::OldSkill)
    }
}

/// The name without its trailing label, and the label: what the last closing parenthesis closes.
fn split_label(name: &str) -> (&str, Option<&str>) {
    let Some(inner) = name.strip_suffix(')') else {
        return (name, None);
    };
    let mut open = 1_usize;
    for (at, byte) in inner.bytes().enumerate().rev() {
        match byte {
            b')' => open += 1,
            b'(' => open -= 1,
            _ => {}
        }
        if open == 0 {
            let rest = name[..at].trim_end();
            // a name that is nothing but a label stays a name
            return if rest.is_empty() { (name, None) } else { (rest, Some(inner[at + 1..].trim())) };
        }
    }
    (name, None)
}

/// The model before a role name, and the rest; the longest role name that fits counts.
fn split_model(name: &str) -> (Option<&str>, &str) {
    if role(name).is_some() {
        return (None, name);
    }
    let endings = TREATMENTS.iter().chain(&CONTROLS).chain([&OLD_SKILL]).filter(|ending| **ending != NOT_AN_ENDING);
    let model = |ending: &str| Some(name.strip_suffix(ending)?.strip_suffix('_')?).filter(|model| !model.is_empty());
    // `x_without_skill` is not the model `x_without` with a skill: the shortest model is the one with the longest role
    match endings.filter_map(|ending| model(ending)).min_by_key(|model| model.len()) {
        Some(model) => (Some(model), &name[model.len() + "_".len()..]),
        None => (None, name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(written: &str) -> (Role, String, Option<String>, Option<String>) {
        let configuration = Configuration::parse(written);
        assert_eq!(configuration.written, written);
        let variant = configuration.variant().to_owned();
        (configuration.role, variant, configuration.model, configuration.label)
    }

    fn plain(role: Role, variant: &str) -> (Role, String, Option<String>, Option<String>) {
        (role, variant.to_owned(), None, None)
    }

    #[test]
    fn role_names_have_their_role() {
        for name in TREATMENTS {
            assert_eq!(parts(name), plain(Role::Treatment, "with_skill"));
        }
        for name in CONTROLS {
            assert_eq!(parts(name), plain(Role::Control, "without_skill"));
        }
        assert_eq!(parts("old_skill"), plain(Role::OldSkill, "old_skill"));
    }

    #[test]
    fn other_names_are_kept_and_have_no_role() {
        for name in [
            "",
            "()",
            "(with_skill)",
            "_with_skill",
            "best_skill",
            "my-with_skillet",
            "ablation:no-table",
            "WITH_SKILL",
        ] {
            assert_eq!(parts(name), plain(Role::Other, name), "{name}");
        }
    }

    #[test]
    fn a_model_stands_before_the_role() {
        let model = |name: &str| Some(name.to_owned());
        let with = "with_skill".to_owned();
        let without = "without_skill".to_owned();
        assert_eq!(parts("claude_with_skill"), (Role::Treatment, with.clone(), model("claude"), None));
        assert_eq!(parts("gemini_without_skill"), (Role::Control, without.clone(), model("gemini"), None));
        assert_eq!(parts("gpt_5_no_skill"), (Role::Control, without.clone(), model("gpt_5"), None));
        assert_eq!(parts("opus_old_skill"), (Role::OldSkill, "old_skill".to_owned(), model("opus"), None));
        assert_eq!(parts("haiku_baseline (v2)"), (Role::Control, without, model("haiku"), Some("v2".to_owned())));
        assert_eq!(parts("a%2Fb_with_skill"), (Role::Treatment, with.clone(), model("a/b"), None));
        assert_eq!(parts("opus_new_skill"), (Role::Treatment, with, model("opus"), None));
    }

    #[test]
    fn one_label_in_parentheses_is_taken_off() {
        let label = |name: &str| Some(name.to_owned());
        let with = || "with_skill".to_owned();
        assert_eq!(parts("with_skill (iter4)"), (Role::Treatment, with(), None, label("iter4")));
        assert_eq!(parts("with_skill (v1.4 (iter6))"), (Role::Treatment, with(), None, label("v1.4 (iter6)")));
        assert_eq!(parts("with_skill(x)"), (Role::Treatment, with(), None, label("x")));
        assert_eq!(parts("with_skill (a) (b)"), (Role::Other, "with_skill (a)".to_owned(), None, label("b")));
        assert_eq!(parts("with_skill )"), plain(Role::Other, "with_skill )"));
    }

    #[test]
    fn the_earlier_skill_is_the_control_only_without_another() {
        use Role::{Control, OldSkill, Other, Treatment};
        assert_eq!(control_among([Treatment, OldSkill, Control]), Some(Control));
        assert_eq!(control_among([OldSkill, Treatment]), Some(OldSkill));
        assert_eq!(control_among([Treatment, Other]), None);
    }
}
