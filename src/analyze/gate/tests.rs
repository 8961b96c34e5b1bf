//! Laws of decisions, whatever the lifts.

use proptest::prelude::*;
use skill_lift_stats::rational::{self, Rational};

use super::{Condition, Decision, GateOutcome};

/// Lifts in fifths.
fn lifts() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(-5_i64..=5, 0..14)
}

fn exact(fifths: &[i64]) -> Vec<Rational> {
    fifths.iter().map(|lift| Rational::new((*lift).into(), 5.into())).collect()
}

fn decided(fifths: &[i64], condition: &Condition) -> Decision {
    Decision::of(&exact(fifths), &rational::rate(1, 20), condition)
}

const SUPERIOR: Condition = Condition::Superior { margin: None };

proptest! {
    /// A larger win never fails what a smaller one passes.
    #[test]
    fn raising_a_lift_keeps_a_better_skill_better(mut fifths in lifts(), at in 0_usize..14, by in 0_i64..=10) {
        let before = decided(&fifths, &SUPERIOR).holds;
        if let Some(lift) = fifths.get_mut(at) {
            *lift = (*lift + by).min(5);
        }
        prop_assert!(!before || decided(&fifths, &SUPERIOR).holds);
    }

    #[test]
    fn arms_that_swap_turn_better_into_worse(fifths in lifts(), margin in 1_u64..20) {
        let equivalent = Condition::Equivalent(rational::rate(margin, 20));
        let mirrored: Vec<i64> = fifths.iter().map(|lift| -lift).collect();
        let (here, there) = (decided(&fifths, &equivalent), decided(&mirrored, &equivalent));
        prop_assert_eq!(here.holds, there.holds);
        let expected = match here.outcome {
            GateOutcome::Improved => GateOutcome::Regressed,
            GateOutcome::Regressed => GateOutcome::Improved,
            other => other,
        };
        prop_assert_eq!(there.outcome, expected);
    }

    #[test]
    fn the_order_of_the_units_decides_nothing(fifths in lifts(), margin in 1_u64..20) {
        let condition = Condition::NonInferior(rational::rate(margin, 20));
        let mut turned = fifths.clone();
        turned.reverse();
        let (here, there) = (decided(&fifths, &condition), decided(&turned, &condition));
        prop_assert_eq!((here.outcome, here.holds, here.margin), (there.outcome, there.holds, there.margin));
    }

    /// What is within a margin is within a larger one, and what is equivalent is not inferior.
    #[test]
    fn a_larger_margin_is_easier_to_keep(fifths in lifts(), margin in 1_u64..19) {
        let holds = |condition: Condition| decided(&fifths, &condition).holds;
        let (small, large) = (rational::rate(margin, 20), rational::rate(margin + 1, 20));
        prop_assert!(!holds(Condition::NonInferior(small.clone())) || holds(Condition::NonInferior(large.clone())));
        prop_assert!(!holds(Condition::Equivalent(small.clone())) || holds(Condition::Equivalent(large)));
        prop_assert!(!holds(Condition::Equivalent(small.clone())) || holds(Condition::NonInferior(small)));
    }

    /// Too few units hold nothing, and whatever holds is one of the outcomes that may.
    #[test]
    fn few_units_never_hold(fifths in prop::collection::vec(-5_i64..=5, 0..6), margin in 1_u64..20) {
        let margin = rational::rate(margin, 20);
        for condition in [SUPERIOR, Condition::NonInferior(margin.clone()), Condition::Equivalent(margin.clone())] {
            let decision = decided(&fifths, &condition);
            prop_assert!(!decision.holds);
            let expected = if fifths.is_empty() { GateOutcome::Blocked } else { GateOutcome::Structural };
            prop_assert_eq!(decision.outcome, expected);
        }
    }
}
