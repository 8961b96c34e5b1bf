//! The one owner of the order of runs.

/// Where a run stands: positions, not names, so that `run-2` comes before `run-10` and arms keep their declared order.
///
/// Runs without a model come before runs with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyOrder {
    /// Position of the case in the suite.
    pub case: u32,
    /// Position of the model among the models of the tree, by name.
    pub model: Option<u32>,
    /// Position of the arm in the selection.
    pub variant: u32,
    /// Number of the repetition.
    pub repetition: u32,
}

impl KeyOrder {
    /// The key without the arm: what two runs of a pair have in common.
    pub fn pair(self) -> (u32, Option<u32>, u32) {
        (self.case, self.model, self.repetition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_numbers_and_no_model_comes_first() {
        let key = |model, repetition| KeyOrder { case: 0, model, variant: 0, repetition };
        assert!(key(None, 10) < key(Some(0), 2));
        assert!(key(Some(0), 2) < key(Some(0), 10));
    }
}
