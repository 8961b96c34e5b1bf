//! How much of the runs stands in a page, so that it stays under its limit. A pure function of sizes.

use crate::report::numbers::counted;

/// What is shown of the runs of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Caps {
    /// Bytes of an answer.
    pub(super) answer_bytes: usize,
    /// Whether the texts of files other than the answers stand in the page.
    pub(super) file_texts: bool,
    /// What is shown of what the agent did.
    pub(super) trace: TraceCap,
    /// Whether images stand in the page.
    pub(super) images: bool,
}

/// What is shown of what the agent did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TraceCap {
    /// Every step with what came back.
    Whole,
    /// Every step.
    Steps,
    /// Nothing.
    Nothing,
}

impl Caps {
    /// Everything that the user wants, with answers of some bytes.
    pub(super) fn whole(most: &Most, answer_bytes: usize) -> Self {
        Self { answer_bytes, file_texts: most.artifacts, trace: TraceCap::Whole, images: most.artifacts }
    }
}

/// What the user wants at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    /// KiB of an answer.
    pub(super) answer_kib: usize,
    /// Whether files of the runs stand in the page.
    pub(super) artifacts: bool,
}

impl Most {
    /// The sizes of an answer that are tried, in bytes: from the largest that is wanted.
    pub(super) fn answer_sizes(&self) -> [usize; SIZES] {
        SIZES_KIB.map(|step| (step * 1024.0) as usize).map(|bytes| bytes.min(self.answer_kib.max(1) << 10))
    }
}

/// Number of sizes of an answer.
pub(super) const SIZES: usize = 8;
/// Answers are cut to these sizes in turn, in KiB.
const SIZES_KIB: [f64; SIZES] = [64.0, 32.0, 16.0, 8.0, 4.0, 2.0, 1.0, 0.5];
/// Position of the size below which answers are cut only when everything else that can be left out is.
const SHORT: usize = 5;

/// The bytes of a case under each size of an answer, and those that can be left out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CaseSize {
    /// Without texts of files; by position in the list of sizes.
    pub(super) by_answer: [usize; SIZES],
    /// Answers that are longer than each size.
    pub(super) longer: [usize; SIZES],
    /// Bytes of the texts of files that come on top.
    pub(super) file_texts: usize,
    /// Of the bytes above, details of traces.
    pub(super) details: usize,
    /// Of the bytes above, traces with their details.
    pub(super) traces: usize,
    /// Of the bytes above, images.
    pub(super) images: usize,
    /// Whether the case is in the review queue.
    pub(super) is_queued: bool,
}

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
        let caps = self.caps(case.is_queued);
        let whole = case.by_answer[if case.is_queued { queued } else { others }];
        let trace = match caps.trace {
            TraceCap::Whole => 0,
            TraceCap::Steps => case.details,
            TraceCap::Nothing => case.traces,
        };
        let left_out = trace + if caps.images { 0 } else { case.images };
        whole.saturating_sub(left_out) + if caps.file_texts { case.file_texts } else { 0 }
    }

    /// What was cut, in words; nothing when only what the user asked for was.
    pub(super) fn words(&self, cases: &[CaseSize], page_bytes: usize, runs: &str) -> Vec<String> {
        let limit = format!("page limit {} MiB", page_bytes >> 20);
        let place = if runs.is_empty() { String::new() } else { format!("; full files are in {runs}") };
        let mut cuts = Vec::new();
        let (others, queued) = self.steps;
        for (step, is_queued) in [(others, false), (queued, true)] {
            let of_step = cases.iter().filter(|case| case.is_queued == is_queued && step > 0);
            let answers: usize = of_step.map(|case| case.longer[step]).sum();
            if answers > 0 {
                let whose = if is_queued { "of cases that need your eyes" } else { "of other cases" };
                let size = match self.caps(is_queued).answer_bytes {
                    bytes if bytes < 1024 => format!("{bytes} bytes"),
                    bytes => format!("{} KiB", bytes >> 10),
                };
                cuts.push(format!("cut {} {whose} to {size} ({limit}){place}", counted(answers, "answer", "answers")));
            }
        }
        let any = |bytes: fn(&CaseSize) -> usize, is_shown: fn(&Caps) -> bool| {
            cases.iter().any(|case| bytes(case) > 0 && !is_shown(&self.caps(case.is_queued)))
        };
        let left_out = [
            ("texts of files other than the answers", any(|case| case.file_texts, |caps| caps.file_texts)),
            ("details of traces", any(|case| case.details, |caps| caps.trace == TraceCap::Whole)),
            ("some traces", any(|case| case.traces, |caps| caps.trace != TraceCap::Nothing)),
            ("images", any(|case| case.images, |caps| caps.images)),
        ];
        let left_out: Vec<&str> = left_out.into_iter().filter(|(_, is_cut)| *is_cut).map(|(name, _)| name).collect();
        if !left_out.is_empty() {
            cuts.push(format!("left out {} ({limit}){place}", left_out.join(", ")));
        }
        cuts
    }
}

/// The first plan that fits. The texts of files go first; then answers get shorter, first outside of the review queue,
/// then everywhere; then details of traces, images, and whole traces go; very short answers come last. Images go first
/// when they alone take more than a quarter of the page.
///
/// # Errors
/// The bytes of the smallest page, when it is too large.
pub(super) fn plan(cases: &[CaseSize], most: &Most, room: usize) -> Result<Plan, usize> {
    let images: usize = cases.iter().map(|case| case.images).sum();
    let sizes = most.answer_sizes();
    let whole = Caps { images: most.artifacts && images <= room / 4, ..Caps::whole(most, sizes[0]) };
    let caps = |base: Caps, step: usize| Caps { answer_bytes: sizes[step], ..base };
    let plain = Caps { file_texts: false, ..whole };
    let steps_only = Caps { trace: TraceCap::Steps, ..plain };
    let no_images = Caps { images: false, ..steps_only };
    let no_traces = Caps { trace: TraceCap::Nothing, ..no_images };
    let mut plans = vec![(whole, 0, whole, 0), (plain, 0, plain, 0)];
    plans.extend((1..=SHORT).map(|step| (plain, step, plain, 0)));
    plans.extend((1..=SHORT).map(|step| (plain, SHORT, plain, step)));
    plans.extend([steps_only, no_images].map(|base| (base, SHORT, base, SHORT)));
    plans.extend([(no_traces, SHORT, no_images, SHORT), (no_traces, SHORT, no_traces, SHORT)]);
    plans.extend((SHORT + 1..SIZES).map(|step| (no_traces, step, no_traces, SHORT)));
    plans.extend((SHORT + 1..SIZES).map(|step| (no_traces, SIZES - 1, no_traces, step)));
    let mut smallest = 0;
    for (others, others_step, queued, queued_step) in plans {
        let plan = Plan {
            others: caps(others, others_step),
            queued: caps(queued, queued_step),
            steps: (others_step, queued_step),
        };
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

    const MOST: Most = Most { answer_kib: 64, artifacts: true };

    fn case(kib: usize, is_queued: bool) -> CaseSize {
        // an answer of so many KiB: cut to each step
        let sizes = MOST.answer_sizes();
        CaseSize {
            by_answer: sizes.map(|size| size.min(kib << 10) + 1024),
            longer: sizes.map(|size| usize::from(kib << 10 > size)),
            file_texts: 1024,
            details: 512,
            traces: 1024,
            images: 0,
            is_queued,
        }
    }

    #[test]
    fn answers_outside_of_the_queue_are_cut_first() {
        let cases = [case(64, true), case(64, false)];
        let caps = |kib: usize| {
            plan(&cases, &MOST, kib << 10).map(|plan| {
                let (others, queued) = (plan.caps(false), plan.caps(true));
                (others.answer_bytes, queued.answer_bytes, queued.file_texts, others.trace, queued.trace)
            })
        };
        let (kib, whole, nothing) = (1024, TraceCap::Whole, TraceCap::Nothing);
        assert_eq!(caps(132), Ok((64 * kib, 64 * kib, true, whole, whole)));
        assert_eq!(caps(131), Ok((64 * kib, 64 * kib, false, whole, whole)));
        assert_eq!(caps(129), Ok((32 * kib, 64 * kib, false, whole, whole)));
        assert_eq!(caps(68), Ok((2 * kib, 64 * kib, false, whole, whole)));
        assert_eq!(caps(67), Ok((2 * kib, 32 * kib, false, whole, whole)));
        assert_eq!(caps(5), Ok((2 * kib, 2 * kib, false, TraceCap::Steps, TraceCap::Steps)));
        assert_eq!(caps(4), Ok((2 * kib, 2 * kib, false, nothing, nothing)));
        assert_eq!(caps(3), Ok((kib, 2 * kib, false, nothing, nothing)));
        assert_eq!(caps(1), Ok((512, 512, false, nothing, nothing)));
        assert_eq!(caps(0), Err(kib));
    }

    #[test]
    fn what_was_cut_is_named() {
        let cases = [case(64, true), case(64, false)];
        let words = |kib: usize| plan(&cases, &MOST, kib << 10).unwrap().words(&cases, 24 << 20, "runs");
        assert_eq!(words(132), [] as [&str; 0]);
        let files = "left out texts of files other than the answers (page limit 24 MiB); full files are in runs";
        assert_eq!(words(131), [files]);
        let answers = "cut 1 answer of other cases to 32 KiB (page limit 24 MiB); full files are in runs";
        assert_eq!(words(129), [answers, files]);
        assert_eq!(
            words(1),
            [
                "cut 1 answer of other cases to 512 bytes (page limit 24 MiB); full files are in runs",
                "cut 1 answer of cases that need your eyes to 512 bytes (page limit 24 MiB); full files are in runs",
                "left out texts of files other than the answers, details of traces, some traces (page limit 24 MiB); \
                 full files are in runs"
            ]
        );
    }

    #[test]
    fn images_take_a_quarter_at_most() {
        let with_images = |images: usize| {
            let case =
                CaseSize { by_answer: [100_000 + images; SIZES], images, is_queued: true, ..CaseSize::default() };
            plan(&[case], &MOST, 200_000).unwrap().caps(true).images
        };
        assert!(with_images(50_000));
        assert!(!with_images(50_001));
    }
}
