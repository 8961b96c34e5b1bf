//! How much of the runs stands in a page, so that it stays under its limit. A pure function of sizes.

use crate::report::numbers::counted;

/// What is shown of the runs of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Caps {
    /// Bytes of an answer.
    pub(super) answer_bytes: usize,
    /// Whether the trace has what went in and came back.
    pub(super) details: bool,
    /// Whether images stand in the page.
    pub(super) images: bool,
    /// Whether any file but the answers does.
    pub(super) artifacts: bool,
}

/// Answers are cut to these sizes in turn, in KiB.
pub(super) const STEPS_KIB: [usize; 6] = [64, 32, 16, 8, 4, 2];

/// What of the page was cut for its size: caps of the cases outside of the review queue, and of those in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    others: Caps,
    queued: Caps,
    /// Positions of their sizes of an answer in the list of sizes.
    steps: (usize, usize),
}

impl Plan {
    /// What is shown of a case that is in the review queue or not.
    pub(super) fn caps(&self, is_queued: bool) -> Caps {
        if is_queued { self.queued } else { self.others }
    }

    /// The bytes of a case.
    pub(super) fn bytes(&self, case: &CaseSize) -> usize {
        let (others, queued) = self.steps;
        let whole = case.by_answer[if case.is_queued { queued } else { others }];
        let Caps { details, images, .. } = self.others;
        let left_out = if details { 0 } else { case.details } + if images { 0 } else { case.images };
        whole.saturating_sub(left_out)
    }

    /// What was cut, in words; nothing when only what the user asked for was.
    pub(super) fn words(&self, cases: &[CaseSize], page_bytes: usize, runs: &str) -> Vec<String> {
        let mut cuts = Vec::new();
        let limit = format!("page limit {} MiB", page_bytes >> 20);
        let (others, queued) = self.steps;
        for (step, is_queued, kib) in
            [(others, false, self.others.answer_bytes >> 10), (queued, true, self.queued.answer_bytes >> 10)]
        {
            let of_step = cases.iter().filter(|case| case.is_queued == is_queued && step > 0);
            let answers: usize = of_step.map(|case| case.longer[step]).sum();
            if answers > 0 {
                let whose = if is_queued { "in cases that need your eyes" } else { "in other cases" };
                cuts.push(format!(
                    "cut {} {whose} to {kib} KiB ({limit}); full files are in {runs}",
                    counted(answers, "answer", "answers")
                ));
            }
        }
        if !self.others.details && cases.iter().any(|case| case.details > 0) {
            cuts.push(format!("left out the details of traces ({limit})"));
        }
        if !self.others.images && cases.iter().any(|case| case.images > 0) {
            cuts.push(format!("left out images ({limit}); they are in {runs}"));
        }
        cuts
    }
}

/// The bytes of a case under each size of an answer, and those that can be left out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CaseSize {
    /// By position in the list of sizes that [`answer_sizes`] gives.
    pub(super) by_answer: [usize; STEPS_KIB.len()],
    /// Answers that are longer than each size.
    pub(super) longer: [usize; STEPS_KIB.len()],
    /// Of these bytes, details of traces.
    pub(super) details: usize,
    /// Of these bytes, images.
    pub(super) images: usize,
    /// Whether the case is in the review queue.
    pub(super) is_queued: bool,
}

/// The sizes of an answer that are tried, in bytes: from the largest that is wanted.
pub(super) fn answer_sizes(most_kib: usize) -> [usize; STEPS_KIB.len()] {
    STEPS_KIB.map(|step| step.min(most_kib.max(1)) << 10)
}

/// The first plan that fits: answers get shorter, first outside of the review queue, then everywhere; then the details of
/// traces go; images go first when they alone take more than a quarter of the page.
///
/// # Errors
/// The bytes of the smallest page, when it is too large.
pub(super) fn plan(cases: &[CaseSize], most_kib: usize, has_artifacts: bool, room: usize) -> Result<Plan, usize> {
    let images: usize = cases.iter().map(|case| case.images).sum();
    let with_images = images <= room / 4;
    let sizes = answer_sizes(most_kib);
    let last = sizes.len() - 1;
    let lengths = (0..=last).map(|step| (step, 0)).chain((1..=last).map(|step| (last, step)));
    let steps = lengths.map(|(others, queued)| (others, queued, true, with_images));
    let steps = steps.chain([(last, last, false, with_images), (last, last, false, false)]);
    let mut smallest = 0;
    for (others, queued, details, images) in steps {
        let caps = |step: usize| Caps { answer_bytes: sizes[step], details, images, artifacts: has_artifacts };
        let plan = Plan { others: caps(others), queued: caps(queued), steps: (others, queued) };
        smallest = cases.iter().map(|case| plan.bytes(case)).sum();
        if smallest <= room {
            return Ok(plan);
        }
    }
    Err(smallest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(whole: usize, is_queued: bool) -> CaseSize {
        // an answer of `whole` KiB: cut to each step
        let by_answer = STEPS_KIB.map(|step| step.min(whole) << 10);
        CaseSize {
            by_answer,
            longer: STEPS_KIB.map(|step| usize::from(whole > step)),
            details: 512,
            images: 0,
            is_queued,
        }
    }

    #[test]
    fn answers_outside_of_the_queue_are_cut_first() {
        let cases = [case(64, true), case(64, false)];
        let sizes = |room: usize| {
            plan(&cases, 64, true, room << 10)
                .map(|plan| (plan.others.answer_bytes >> 10, plan.queued.answer_bytes >> 10, plan.queued.details))
        };
        assert_eq!(sizes(128), Ok((64, 64, true)));
        assert_eq!(sizes(127), Ok((32, 64, true)));
        assert_eq!(sizes(66), Ok((2, 64, true)));
        assert_eq!(sizes(65), Ok((2, 32, true)));
        assert_eq!(sizes(4), Ok((2, 2, true)));
        assert_eq!(sizes(3), Ok((2, 2, false)));
        assert_eq!(sizes(2), Err(3 << 10));
    }

    #[test]
    fn images_take_a_quarter_at_most() {
        let with_images = |images: usize| {
            let case = CaseSize { by_answer: [100_000 + images; 6], images, is_queued: true, ..CaseSize::default() };
            plan(&[case], 64, true, 200_000).unwrap().caps(true).images
        };
        assert!(with_images(50_000));
        assert!(!with_images(50_001));
    }
}
