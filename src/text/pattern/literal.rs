//! Texts that stand in every match of a pattern.

use super::node::Node;

/// The longest texts that every match of `node` contains, in order; empty ones are left out.
pub(super) fn literals(node: &Node) -> Vec<String> {
    let mut runs = Runs::default();
    runs.walk(node);
    runs.end();
    runs.done
}

#[derive(Default)]
struct Runs {
    done: Vec<String>,
    open: String,
}

impl Runs {
    fn walk(&mut self, node: &Node) {
        match node {
            Node::Character(code) => match char::from_u32(*code) {
                Some(character) => self.open.push(character),
                None => self.end(),
            },
            Node::Sequence(nodes) => nodes.iter().for_each(|node| self.walk(node)),
            Node::Group(_, body) | Node::Atomic(body) => self.walk(body),
            // nothing stands between what is before a position and what is behind it
            Node::Position(_) | Node::Look { .. } => {}
            Node::Repeat { min: 1.., body, .. } => {
                self.end();
                self.walk(body);
                self.end();
            }
            Node::Repeat { .. }
            | Node::Alternatives(_)
            | Node::Set(_)
            | Node::BackReference { .. }
            | Node::Conditional { .. } => self.end(),
        }
    }

    fn end(&mut self) {
        if !self.open.is_empty() {
            self.done.push(std::mem::take(&mut self.open));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::pattern::Pattern;

    fn literals(pattern: &str) -> Vec<String> {
        Pattern::parse(pattern, false).unwrap().literals()
    }

    #[test]
    fn what_every_match_holds() {
        assert_eq!(
            literals(r"python3? .*skills/pdf/scripts/fill\.py\b"),
            ["python", " ", "skills/pdf/scripts/fill.py"]
        );
        assert_eq!(literals("a(b(?:c))+d"), ["a", "bc", "d"]);
        assert_eq!(literals("a(?!x)b^c"), ["abc"]);
        assert_eq!(literals("(?P<x>ab)c{2,}"), ["ab", "c"]);
    }

    #[test]
    fn what_a_match_may_lack_is_left_out() {
        for pattern in ["ab|cd", "(ab)?", "[ab]", "(?i)ab", ".*"] {
            assert_eq!(literals(pattern), Vec::<String>::new(), "{pattern}");
        }
    }
}
