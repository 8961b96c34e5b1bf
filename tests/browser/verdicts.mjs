// One small suite for each row of the table of headlines: what it holds, and what must be said of it.
import { ARMS } from "./trees.mjs";

const PARTS = ["alpha", "bravo", "carbon", "delta"];

// `cases` are pairs: how many of four checks pass without and with the skill; null: no run.
export const VERDICTS = [
  { row: 1, name: "nothing-paired", cases: [[null, 4], [null, 2]],
    says: { headline: "No lift can be measured.", second: "No pair has both arms: a run is not scored, 2 pairs.", grade: "Not enough evidence", sure: "" } },
  { row: 2, name: "all-pass", cases: Array(8).fill([4, 4]),
    says: { headline: "This eval cannot tell.", second: "Every case passes with and without the skill. Harder cases are needed.", grade: "Not enough evidence", sure: "Exact test over 8 cases, 0 of which moved." } },
  { row: 3, name: "all-fail", cases: Array(8).fill([0, 0]),
    says: { headline: "This eval cannot tell.", second: "Every case fails in both arms: they are too hard, or the checks are wrong.", grade: "Not enough evidence", sure: "Exact test over 8 cases, 0 of which moved." } },
  { row: 4, name: "helps", cases: [[0, 4], [1, 4], [1, 3], [2, 4], [0, 3], [1, 4], [2, 3], [0, 4], [2, 4], [1, 3]],
    says: { headline: "The skill helps.", second: "p = 0.002.", grade: "Strong evidence", sure: "A skill without effect would show a lift this large in about 20 in 10,000 such evals. Exact test over 10 cases, 10 of which moved." } },
  { row: 5, name: "harms", cases: [[4, 0], [4, 1], [3, 1], [4, 2], [3, 0], [4, 1], [3, 2], [4, 0], [4, 2], [3, 1]],
    says: { headline: "The skill makes results worse.", second: "p = 0.002.", grade: "Strong evidence", sure: "Exact test over 10 cases, 10 of which moved." } },
  { row: 6, name: "equivalent", cases: Array.from({ length: 40 }, (_, i) => [2, i === 0 ? 3 : i === 1 ? 1 : 2]), options: ["--equivalence-margin", "0.2"],
    says: { headline: "The skill makes no practical difference.", second: "Any average difference lies within ±20 pp.", grade: "Evidence of no difference that matters", sure: "Exact test over 40 cases, 2 of which moved." } },
  { row: 7, name: "no-evidence", cases: Array.from({ length: 80 }, (_, i) => [2, i < 4 ? 3 : i < 8 ? 1 : 2]),
    says: { headline: "No lift that matters.", second: "Any average effect lies inside ±10 pp.", grade: "Evidence of no difference that matters", sure: "Exact test over 80 cases, 8 of which moved." } },
  { row: 8, name: "structural", cases: [[0, 4], [1, 4], [0, 3]],
    says: { headline: "Too few cases to tell.", second: "3 cases cannot reach p ≤ 0.05, whatever they show. Add at least 3.", grade: "Not enough evidence", sure: "in about 25 in 100 such evals." } },
  { row: 9, name: "leans-better", cases: [[0, 4], [1, 3], [2, 3], [3, 2], [2, 2], [1, 1], [2, 2], [3, 3]],
    says: { headline: "Not proven. Results lean better.", second: "Only 4 of 8 cases changed.", grade: "No clear evidence", sure: "in about 38 in 100 such evals." } },
  { row: 10, name: "leans-worse", cases: [[4, 0], [3, 1], [3, 2], [2, 3], [2, 2], [1, 1], [2, 2], [3, 3]],
    says: { headline: "Not proven. Results lean worse.", second: "Only 4 of 8 cases changed.", grade: "No clear evidence", sure: "in about 38 in 100 such evals." } },
  { row: 11, name: "no-lift-seen", cases: [[1, 3], [3, 1], [2, 2], [2, 2], [1, 1], [3, 3], [2, 2], [2, 2]],
    says: { headline: "No lift seen.", second: "A lift below 40 pp could have gone unnoticed.", grade: "No clear evidence", sure: "Exact test over 8 cases, 2 of which moved." } },
];

export function verdictTree(tree, { cases }) {
  tree.suite(cases.map((_, i) => ({ id: `case-${i + 1}`, assertions: PARTS.map((value) => ({ type: "contains", name: `says ${value}`, value })) })));
  cases.forEach(([without, withSkill], i) => {
    for (const [arm, passed] of [[ARMS[0], withSkill], [ARMS[1], without]]) if (passed != null) tree.run(`case-${i + 1}/${arm}`, { answer: `Answer: ${PARTS.slice(0, passed).join(" ")}.\n` });
  });
}
