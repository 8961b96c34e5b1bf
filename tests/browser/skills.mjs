// Reports of several skills, and one with ablations and trigger runs, for the pages under test.
import { Tree } from "./trees.mjs";
import { join } from "node:path";

// What each skill changes: alpha nearly all of its cases, beta none, gamma some, one of them with a run that timed out.
export const SKILLS = ["alpha", "beta", "gamma"];

export function skillTrees(folder) {
  for (const skill of SKILLS) {
    const tree = new Tree(join(folder, skill)), number = skill === "beta" ? 6 : 8;
    tree.suite([...Array(number).keys()].map((n) => ({ id: `c${n}`, domain: n % 2 ? "tables" : "text", assertions: [{ name: "says-yes", type: "contains", value: "yes" }] })), { skill_name: skill });
    for (let n = 0; n < number; n++) for (const arm of ["with_skill", "without_skill"]) for (const run of [1, 2]) {
      const without = arm === "without_skill", good = skill === "beta" || (skill === "alpha" ? without === (n === 0) : (n + run + without) % 3 !== 0);
      const late = skill === "gamma" && n === 7 && without && run === 2;
      tree.run(`c${n}/${arm}/run-${run}`, { answer: late ? null : `${skill} says ${good ? "yes" : "no"}\n`,
        metadata: late ? { timed_out: true, timeout_s: 300, returncode: 124 } : without && skill === "beta" ? {} : { cost_usd: without ? 0.4 : 0.5, total_tokens: 100 + n } });
    }
  }
}

// A report of the reference package with versions of the skill that lack a part.
export function reportWithParts() {
  const row = (case_id, variant, run_number, passed, metadata = {}) => ({ case_id, variant, run_number, model: null, missing_output: false, execution_valid: true, objective_passed: passed,
    objective_total: 1, objective_pass_rate: passed, assertions: [], metadata });
  const cases = ["c0", "c1", "c2"];
  const results = cases.flatMap((id) => [1, 2].flatMap((run) => [row(id, "with_skill", run, 1), row(id, "without_skill", run, 0)]));
  const components = (heading) => ({ ablation: { components: [{ class: "instructions", mechanism: "section", target: { heading } }] } });
  results.push(row("c0", "ablation:no-headers", 1, 0, components("Headers")), row("c0", "ablation:no-footers", 1, 1, components("Footers")));
  const coverage = { ablation: { runs: 18, missing: 0, errored: 0 }, with_skill: { runs: 18, missing: 0, errored: 0 } };
  return { manifest: "m", skill_name: "demo", generated_at: null, summary: {}, paired_summary: {}, case_flags: [], results, ablation_regressions: [
    { id: "no-headers", population: "answer", status: "measured", provenance_verified: true, coverage, regressions: [
      { summary: "Tables lose their header row, and people who read them no longer know what the columns are.", cases: ["c0", "c1"], evidence_class: "confirmed_causal", significance: { min_p_value: 0.03125 } },
      { summary: "Nothing else breaks.", cases: ["c2"], evidence_class: "refuted", significance: null }] },
    { id: "no-footers", population: "answer", status: "measured", provenance_verified: true, coverage, regressions: [
      { summary: "Sums are left out.", expected_regression_confirmed: null, note: "unstructured expected_regression; add cases+assertions to confirm at assertion level" }] }] };
}

export function triggerReport() {
  const run = (model, query, should_trigger, triggered, observation_complete) => ({ population: "trigger", agent: "claude", model, query, should_trigger, triggered, observation_complete });
  return { skill_name: "demo", ablation: null, results: [run("small", "Sort this table", true, true, true), run("small", "Sort this table", true, false, true), run("small", "Sort this table", true, false, false),
    run("small", "What is the weather?", false, true, true), run("large", "What is the weather?", false, false, true)] };
}
