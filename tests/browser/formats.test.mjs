// Check 23: the formats of the script give the strings of the shared vectors, which the report side tests as well. What
// only the overview shows (p, and points of the headline with their interval) comes from the report in words.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const source = readFileSync(new URL("../../templates/review/script/formats.js", import.meta.url), "utf8");
const vectors = JSON.parse(readFileSync(new URL("format-vectors.json", import.meta.url), "utf8"));
const formats = new Function(`"use strict";${source}
return { rate, whole_points: wholePoints, whole_interval: wholeInterval, money, money_difference: moneyDifference,
  tokens, token_difference: tokenDifference, time, time_difference: timeDifference, size, count };`)();

const OVERVIEW_ONLY = ["p", "points", "interval"];

test("there are at least 60 vectors, of every format", () => {
  assert.ok(vectors.length >= 60, `${vectors.length} vectors`);
  assert.deepEqual([...new Set(vectors.map(([kind]) => kind))].sort(), [...Object.keys(formats), ...OVERVIEW_ONLY].sort());
});

for (const [kind, ...rest] of vectors.filter(([kind]) => !OVERVIEW_ONLY.includes(kind))) {
  const expected = rest.at(-1), input = rest.slice(0, -1);
  test(`23 ${kind} ${input.join(" ")}`, () => assert.equal(formats[kind](...input), expected));
}
