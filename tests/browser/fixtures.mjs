// Data of pages, written by hand or from a fixed rule, in the shape that the report side writes.
const MODELS = ["claude-sonnet-4.5", "gpt-5.1-codex"];
const WITH = { variant: "with_skill", name: "With the skill", words: "with the skill" };
const WITHOUT = { variant: "without_skill", name: "Without the skill", words: "without the skill" };
const PICTURE = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC";

// The same numbers on every machine.
function numbersFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const bytesOf = (text) => new TextEncoder().encode(text).length;

class Chunk {
  constructor() {
    this.texts = [];
    this.cases = {};
    this.known = new Map();
  }
  text(text, more = {}) {
    const key = text + JSON.stringify(more);
    if (!this.known.has(key)) {
      this.known.set(key, this.texts.length);
      this.texts.push({ bytes: bytesOf(text), text, cuts: [], ...more });
    }
    return this.known.get(key);
  }
  done() {
    return { texts: this.texts, cases: this.cases };
  }
}

const spansOf = (chunk, number, pattern) => [...chunk.texts[number].text.matchAll(new RegExp(pattern, "gu"))].map((found) => [number, found.index, found.index + found[0].length]);

function telemetryOf({ elapsed_ms, tokens, cost, loaded }) {
  const missing = (value) => (value == null ? { reason: "The runner wrote no usage for this run; not_reported" } : {});
  return [
    { label: "Time", unit: "ms", value: elapsed_ms, source: "clock of the runner", ...missing(elapsed_ms) },
    { label: "Tokens", unit: "tokens", value: tokens, source: "provider", ...missing(tokens) },
    { label: "Cost", unit: "money", currency: "USD", value: cost && cost.value, source: "price table 2025-10", ...missing(cost) },
    { label: "Tool calls", unit: "count", value: loaded ? 4 : 2, source: "trace" },
    { label: "Skill loaded", unit: "yes_no", value: loaded, source: "trace" },
  ];
}

function traceOf(elapsed_ms, withSkill) {
  const shares = withSkill ? [["skill_load", 0.05, "csv-surgeon/SKILL.md"], ["file_read", 0.1, "orders_2024.csv"], ["command", 0.45, "python scripts/verify_cells.py"], ["file_write", 0.1, "outputs/clean.csv"], ["message", 0.3, "answer"]]
    : [["file_read", 0.2, "orders_2024.csv"], ["command", 0.5, "python - <<'EOF'"], ["message", 0.3, "answer"]];
  let at = 0;
  return shares.map(([kind, share, label]) => {
    const ms = Math.round(share * elapsed_ms), event = { at, ms, kind, label, ok: kind === "command" ? withSkill : null };
    at += ms;
    if (kind === "command") event.detail = `$ ${label}\n1204 rows compared\n`;
    return event;
  });
}

const CHECKS = [
  { name: "row count is stated", type: "regex", severity: "gate", pattern: "1,\\d{3} rows" },
  { name: "names the delimiter", type: "contains_any", severity: "gate", pattern: "semicolon" },
  { name: "header row kept as is", type: "golden_output", severity: "gate" },
  { name: "no formula left", type: "regex_absent", severity: "critical" },
  { name: "explanation is specific", type: "judge", severity: "soft" },
];

const GOOD = `# Cleaned \`orders_2024.csv\`

Wrote \`outputs/clean.csv\`. **1,204 rows** in, **1,204 rows** out 🧮.

| What | Found | Now |
|---|---|---|
| Encoding | UTF-8 with BOM | UTF-8 |
| Delimiter | semicolon, seen on 200 of 200 lines | comma |

## Changed
1. Removed the byte-order mark before \`order_id\`.
2. Quoted 38 cells that hold a comma.
   - one of them twice
3. Left \`delivery_note\` as it was.

\`\`\`sh
python scripts/verify_cells.py < outputs/clean.csv
\`\`\`

See [the log](https://example.org/log) and ![a plot](plot.png).
`;
const WEAK = "I cleaned the file and saved it as `orders_clean.csv`.\n\nI replaced the semicolons with commas. The numbers now use a point for decimals.\n\nIt should load without problems now.\n";

const DEMO = [
  ["bom-and-semicolon", "Semicolons, BOM, decimal commas", "encoding", "medium"], ["quoted-newlines", "Line breaks inside quoted cells", "quoting", "hard"],
  ["ragged-rows", "Rows with too few or too many cells", "structure", "medium"], ["ja-shift-jis", "Shift_JIS customer list", "encoding", "hard"],
  ["hebrew-headers", "Hebrew headers, mixed direction", "encoding", "hard"], ["formula-injection", "Cells that start with = + - @", "security", "hard"],
  ["two-million-rows", "2.1 million rows, streamed", "scale", "hard"], ["already-clean", "A file that needs nothing", "structure", "easy"],
  ["empty-file", "Zero bytes", "structure", "easy"], ["header-only", "Header without rows", "structure", "easy"],
  ["tsv-named-csv", "Tabs in a file named .csv", "structure", "easy"], ["excel-dates", "Day-month order is ambiguous", "types", "hard"],
  ["leading-zeros", "Postcodes with leading zeros", "types", "medium"], ["scientific-ids", "Ids turned into 1.2E+15", "types", "hard"],
  ["mixed-eol", "CR, LF and CRLF mixed", "structure", "medium"], ["latin1-mojibake", "UTF-8 read as CP1252", "encoding", "medium"],
  ["duplicate-columns", "Two columns with one name", "structure", "medium"], ["nul-bytes", "NUL bytes in text cells", "encoding", "hard"],
  ["emoji-cells", "Emoji and combining marks", "encoding", "medium"], ["password-column", "Secrets must not be printed", "security", "hard"],
  ["thousands-sep", "1.234,56 and 1,234.56", "types", "hard"], ["merged-header", "Two header lines", "structure", "hard"],
  ["comment-lines", "Lines that start with #", "structure", "easy"], ["schema-drift", "Columns change half way", "structure", "hard"],
];
const LIFTS = [0.4333, 0.5417, 0.4167, 0.4333, -0.2333, 0.25, 0.4375, 0, 0.1667, 0, 0.375, 0, 0.5417, 0.5, 0.2083, 0.4167, 0, 0.1667, 0, -0.0833, 0.0833, 0.25, 0.25, 0];
const WITHOUTS = [0.5333, 0.375, 0.5, 0.3, 0.7667, 0.25, 0.375, 1, 0.8333, 1, 0.5417, 0.4583, 0.4167, 0.25, 0.7083, 0.4167, 0.75, 0.4167, 1, 0.875, 0.4375, 0.5625, 0.75, 0];
const QUEUE = { "formula-injection": 1, "hebrew-headers": 2, "password-column": 2, "two-million-rows": 4, "thousands-sep": 4, "merged-header": 4, "excel-dates": 5 };

// A text of which only the head and the tail are here.
function cutText(chunk) {
  const line = (number) => `row ${number}: value ${number * 7}\n`;
  const head = Array.from({ length: 2000 }, (_, i) => line(i + 1)).join(""), tail = Array.from({ length: 700 }, (_, i) => line(80000 + i)).join("");
  return chunk.text(head + tail, { bytes: 2_000_000, cuts: [[head.length, 2_000_000 - head.length - tail.length]] });
}

function flagsOf(id, lift, without, unstable) {
  const flags = [];
  if (QUEUE[id] === 1) flags.push(["Critical failure with the skill", "critical-failure: with_skill", "bad"]);
  if (lift < 0) flags.push(["Worse with the skill", "regressed", "bad"]);
  if (QUEUE[id] === 4) flags.push(["Blocked pair", "blocked pair", "warn"]);
  if (QUEUE[id] === 5) flags.push(["Waiting for a judge", "pending", "warn"]);
  if (unstable) flags.push(["Unstable with the skill", "flaky with_skill", ""]);
  if (lift === 0 && without === 1) flags.push(["Passes in both arms", "saturated/non-discriminating", ""]);
  if (lift === 0 && without === 0) flags.push(["Fails in both arms", "floor", ""]);
  return flags;
}

function reasonsOf(id, lift) {
  if (QUEUE[id] === 1) return [["bad", "A critical check failed in 3 of 6 runs with the skill. A failed critical check fails the whole run."]];
  if (lift < 0) return [["bad", `Worse with the skill: \u2212${Math.round(-lift * 100)}\u00a0pp over 6 pairs. Mostly “header row kept as is”: 6 of 6 without, 2 of 6 with.`]];
  if (QUEUE[id] === 4) return [["warn", "1 of 6 pairs is blocked: Without the skill: timed out after 300 s."]];
  if (QUEUE[id] === 5) return [["warn", "1 check waits for a judge."]];
  return [];
}

function demo() {
  const random = numbersFrom(20251130), chunks = [new Chunk(), new Chunk(), new Chunk()], cases = [];
  const ablation = { variant: "ablation:no-verify", name: "Without verify_cells.py", words: "without verify_cells.py" };
  DEMO.forEach(([id, title, domain, difficulty], position) => {
    const chunkNumber = Math.floor(position / 8), chunk = chunks[chunkNumber], lift = LIFTS[position], without = WITHOUTS[position], unstable = position % 3 === 1;
    const detail = { turns: [chunk.text(id === "leading-zeros" ? Array.from({ length: 20 }, (_, i) => `Step ${i + 1} of the task.`).join("\n") : `The attached file will not load (${title.toLowerCase()}). Clean it, keep every value, and tell me what you changed.`)],
      files_in: [{ path: "orders_2024.csv", bytes: 88100 }], expected: [chunk.text("It states the row count and names the delimiter.\n")],
      checks: CHECKS.map(({ pattern, ...check }) => check), runs: [] };
    if (id === "excel-dates") detail.turns.push(chunk.text("And which order did you assume?"));
    const runs = [];
    const arms = id === "bom-and-semicolon" ? [0, 1, 2] : [0, 1];
    for (let model = 0; model < 2; model++) for (let rep = 1; rep <= 3; rep++) for (const arm of arms) {
      const good = arm === 0 ? random() < without + lift + 0.1 : random() < without;
      const timedOut = QUEUE[id] === 4 && arm === 1 && model === 1 && rep === 2;
      const vetoed = QUEUE[id] === 1 && arm === 0 && rep === 2, pending = QUEUE[id] === 5;
      const outcomes = [good, good || arm === 1, good || rep === 3, !vetoed, arm === 0];
      const passed = outcomes.slice(0, 4).filter(Boolean).length;
      if (timedOut) {
        runs.push([arm, model, rep, "timed out after 300 s", null, null, false]);
        detail.runs.push({ arm, model, rep, dir: `${id}/${MODELS[model]}/${arm ? "without_skill" : "with_skill"}/run-${rep}`, status: "timed out after 300 s", elapsed_ms: 300000, tokens: null, cost: null,
          answer: null, checks: CHECKS.map(() => null), trace: null, trace_reason: "the run was ended", files: [], telemetry: telemetryOf({ elapsed_ms: 300000, tokens: null, cost: null, loaded: false }) });
        continue;
      }
      runs.push([arm, model, rep, "ok", vetoed ? 0 : passed, 4, vetoed]);
      const text = id === "two-million-rows" && arm === 0 ? cutText(chunk) : id === "tsv-named-csv" && arm === 0 ? chunk.text('{"rows":1204,"delimiter":"semicolon","empty":[],"nested":{"big":12345678901234567890,"list":[1,2]}}', { json: true })
        : id === "empty-file" && arm === 1 ? chunk.text("") : chunk.text(good ? GOOD.replace("1,204 rows", `1,20${rep} rows`) : WEAK);
      const checks = CHECKS.map((check, number) => {
        if (check.type === "judge") return pending ? { outcome: "pending", evidence: "", spans: [] } : { outcome: outcomes[number] ? "pass" : "fail", score: outcomes[number] ? 0.83 : 0.42, evidence: "", spans: [],
          judge: { model: "judge-model-1", score: outcomes[number] ? 0.83 : 0.42, threshold: 0.7, panel: "2 of 3 judges pass", reasoning: "The answer names the file, the rows and the change. ".repeat(16), dimensions: [["specific", 0.9], ["short", null]] } };
        const spans = check.pattern ? spansOf(chunk, text, check.pattern).slice(0, 20) : [];
        const pass = check.pattern ? spans.length > 0 : outcomes[number];
        return { outcome: pass ? "pass" : "fail", evidence: spans.length ? `matched “${chunk.texts[text].text.slice(spans[0][1], spans[0][2])}”` : pass ? "as expected" : "no match", spans };
      });
      const elapsed_ms = 7000 + Math.round(random() * 8000) + (arm ? 0 : 5000), tokens = position === 3 && arm ? null : 4600 + Math.round(random() * 3000), cost = tokens == null ? null : { value: Math.round(tokens * 4.2) / 1e6, currency: "USD" };
      const run = { arm, model, rep, dir: `${id}/${MODELS[model]}/${arm ? "without_skill" : "with_skill"}/run-${rep}`, status: "ok", elapsed_ms, tokens, cost, answer: [{ path: "output.md", text }], checks,
        trace: position === 9 ? null : traceOf(elapsed_ms, arm === 0), files: [{ path: "outputs/clean.csv", bytes: 88100, kind: "text", text: chunk.text('order_id,note\n1,"a, b"\n2,"say ""hi"""\n') }, { path: "outputs/plot.png", bytes: 81, kind: "image", data_uri: PICTURE }, { path: "report.html", bytes: 9000 }],
        files_more: 14, telemetry: telemetryOf({ elapsed_ms, tokens, cost, loaded: arm === 0 }) };
      if (position === 9) run.trace_reason = "the agent wrote no events";
      if (id === "quoted-newlines") {
        run.answer.push({ path: "notes.md", text: chunk.text("# Notes\n\nTwo files.\n") });
        run.answer.push({ path: "archive.zip", bytes: 1_200_000, binary: "application/zip" });
      }
      if (arm === 0 && id !== "schema-drift") run.previous = id === "already-clean" ? { same: true } : { answer: [{ path: "output.md", text: chunk.text(GOOD.replace("**1,204 rows** out", "Please check the row count")) }], passed: 3, total: 4, status: "ok", checks };
      detail.runs.push(run);
    }
    chunk.cases[id] = detail;
    const ci = lift === 0 && (without === 1 || without === 0) ? null : [Math.max(-1, lift - 0.3), Math.min(1, lift + 0.3)];
    cases.push({ id, title, split: position % 4 ? "train" : "test", tags: position % 5 ? [] : ["regression"], domain, difficulty, intent: null, flags: flagsOf(id, lift, without, unstable), queue: QUEUE[id] ?? null,
      without, with: without + lift, lift, ci, ...(ci ? {} : { ci_reason: "every repetition gave the same result" }), pairs: QUEUE[id] === 4 ? 5 : 6, blocked: QUEUE[id] === 4 ? 1 : 0, unstable,
      cost: id === "ja-shift-jis" ? null : { delta: (4 + position) / 1000, currency: "USD", n: 6 }, ...(id === "ja-shift-jis" ? { cost_reason: "No run without the skill recorded its cost; not_reported" } : {}),
      reasons: reasonsOf(id, lift), runs, chunk: chunkNumber });
  });
  return pageOf({ models: MODELS, arms: [WITH, WITHOUT, ablation], previous: "iteration-3", cases, chunks, subtitle: "iteration-4 · 24 cases · 2 models · 3 repetitions",
    feedback: [{ case_id: "mixed-eol", model: MODELS[0], variant: "with_skill", run_number: 1, verdict: "pass", note: "Fine, \"quoted\"\nand two lines." }] });
}

function pageOf({ skill = "csv-surgeon", headline = "The skill helps: +21.5\u00a0pp", models, arms, previous = null, cases, chunks, subtitle, feedback = [], served = null, runs_given = true, footer_notes }) {
  const index = { schema: 1, report_sha256: "b34563e2ebeb7717".repeat(4), skill, headline, label: "iteration-4", previous, models, arms, runs_given, served, feedback_format: "v2", feedback, cases };
  return { index, chunks: chunks.map((chunk) => chunk.done()), overview: overviewOf(index), subtitle, footer_notes: footer_notes || ["skill-lift 1.0.0. This page works offline and asks for nothing."] };
}

const escapeHtml = (text) => String(text).replace(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069]/g, (found) => `[U+${found.charCodeAt(0).toString(16)}]`);

// What the report side writes with templates; here only as much as the script and the style touch.
function overviewOf({ skill, headline, cases }) {
  const eyes = cases.filter((item) => item.queue).sort((a, b) => a.queue - b.queue || a.lift - b.lift), link = (item) => `#case=${encodeURIComponent(item.id)}&amp;f=eyes`;
  const row = (item) => `<tr><td><a href="#case=${encodeURIComponent(item.id)}">${escapeHtml(item.id)}</a></td><td class="num">${item.lift == null ? "not measured" : Math.round(item.lift * 100) + "\u00a0pp"}</td></tr>`;
  return `<div class="hero"><div><p class="eyebrow">${escapeHtml(skill)}, with the skill against without</p><h1>${escapeHtml(headline.split(":")[0])}.</h1>
<p class="lead">Pass rate rises from <b>56%</b> to <b>78%</b>: a lift of <b class="nw">+21.5 pp</b>, 95% interval <span class="nw">+12.0 to +30.9 pp,</span> <span class="nw">p = 0.0001.</span></p>
<p class="note">It holds for both models.</p><p class="jump"><a href="#eyes-heading">${eyes.length} of ${cases.length} cases need your eyes</a></p>
<div class="facts"><div><h2>How sure are we?</h2><p class="v">Very strong evidence</p><p>Exact test over 24 cases.</p></div><div><h2>What does it cost?</h2><p class="v">+$0.011 a run</p><p>+2,890 tokens, +6.8 s.</p></div></div></div>
<aside class="eyes" aria-labelledby="eyes-heading"><h2 id="eyes-heading">What needs your eyes? <b>${eyes.length} of ${cases.length} cases</b></h2><ul><li><a href="#cases&amp;f=worse"><span class="g bad" aria-hidden="true">▼</span><span class="t">worse with the skill</span></a></li></ul>${eyes.length ? `<a class="btn pri" href="${link(eyes[0])}">Review them in order</a>` : ""}</aside></div>
<section class="s"><h2>Which cases move?</h2><p>Sorted from worst to best.</p><table class="forest"><thead><tr><th scope="col">Case</th><th scope="col" class="num">Lift</th></tr></thead><tbody>${cases.slice(0, 12).map(row).join("")}</tbody></table></section>`;
}

// Every character and sequence that the page must show as a label, once.
export const HIDDEN = [
  ...Array.from({ length: 32 }, (_, code) => code).filter((code) => ![9, 10].includes(code)), 0x7f, ...Array.from({ length: 32 }, (_, i) => 0x80 + i), 0xad, 0x61c, 0x180e, 0x200b, 0x200e, 0x200f,
  0x202a, 0x202b, 0x202c, 0x202d, 0x202e, ...Array.from({ length: 10 }, (_, i) => 0x2060 + i), 0xfeff, 0xe0001, 0xe0041, 0xe007f, 0xe0100, 0xe01ef,
].map((code) => String.fromCodePoint(code));
export const SEQUENCES = ["\u001b[31m", "\u001b[0m", "\u001b[2J", "\u009b1A", "\u001b]0;title\u0007", "\u001b]8;;https://example.org\u001b\\"];

function hostile() {
  const chunk = new Chunk(), cases = [];
  const breakout = "</script><script>document.title='PWNED'</script><!-- <img src=x onerror=\"document.title='PWNED'\"> \u2028 \u2029 {{7*7}} {% raw %}";
  const answers = {
    [`<img src=x onerror="document.title='PWNED'">`]: `# ${breakout}\n\n<iframe src="https://example.org"></iframe>\n[click](https://example.org) ![pixel](https://example.org/p.png) <a href="https://example.org">a</a>\n\n| <b>x</b> | ${breakout} |\n|---|---|\n| javascript:alert(1) | [y](javascript:alert(1)) |\n`,
    "hidden-characters": HIDDEN.map((character) => `a${character}b`).join("\n").replaceAll("\r\n", "\r \n") + "\n",
    "terminal-sequences": SEQUENCES.map((sequence) => `x ${sequence} y`).join("\n") + "\n",
    "\u202egnp.exe\u200b": "a lone\rreturn\r\nand a line end\n", "__proto__": "ordinary\n", "a&m=2#b%20c": "ordinary, too\n",
  };
  for (const [id, answer] of Object.entries({ ...answers, ["__proto__"]: "ordinary\n" })) {
    const text = chunk.text(answer), other = chunk.text("plain\n");
    const check = { outcome: "fail", evidence: breakout + "\u202e", spans: [[text, 0, 3]], judge: { model: breakout, reasoning: breakout } };
    const run = (arm, number) => ({ arm, model: 0, rep: 1, dir: "<b>dir</b>", status: "ok", elapsed_ms: 10, tokens: 1, cost: null, answer: [{ path: "<i>output</i>\u202e.md", text: number }], checks: [check],
      trace: [{ at: 0, ms: 5, kind: "constructor", label: breakout, detail: breakout + "\u001b[31mred", ok: null }],
      files: [{ path: "javascript:alert(1)", bytes: 3, href: "javascript:alert(1)" }, { path: "x.svg", bytes: 3, kind: "image", data_uri: "data:text/html;base64,PGI+" }, { path: breakout, bytes: 1, kind: "text", text }],
      telemetry: [{ label: "Time", unit: "ms", value: 10, source: breakout }] });
    Object.defineProperty(chunk.cases, id, { enumerable: true, value: { turns: [text], files_in: [{ path: breakout, bytes: 1 }], expected: [text], checks: [{ name: breakout, type: breakout, severity: "gate" }], runs: [run(0, text), run(1, other)] } });
    cases.push({ id, title: breakout + "\u202e", split: null, tags: [breakout, "\u200b"], domain: breakout, difficulty: null, intent: null, flags: [[breakout, breakout, "bad"]], queue: 2, without: 1, with: 0, lift: -1, ci: null, ci_reason: breakout, pairs: 1, blocked: 0, unstable: false,
      cost: null, cost_reason: breakout, reasons: [["bad", "Worse with the skill."]], runs: [[0, 0, 1, "ok", 0, 1, false], [1, 0, 1, "ok", 1, 1, false]], chunk: 0 });
  }
  return pageOf({ skill: breakout, headline: "The skill makes results worse", models: [breakout], arms: [WITH, WITHOUT], cases, chunks: [chunk], subtitle: breakout, footer_notes: [breakout] });
}

function big() {
  const random = numbersFrom(7), chunks = [], cases = [];
  for (let position = 0; position < 1000; position++) {
    if (position % 20 === 0) chunks.push(new Chunk());
    const chunk = chunks.at(-1), id = `case-${String(position).padStart(4, "0")}`, without = Math.round(random() * 20) / 20, withSkill = Math.round(random() * 20) / 20, lift = withSkill - without;
    const detail = { turns: [chunk.text(`Prompt of ${id}.`)], files_in: [], expected: [], checks: CHECKS.slice(0, 2).map(({ pattern, ...check }) => check), runs: [] }, runs = [];
    for (let rep = 1; rep <= 5; rep++) for (const arm of [0, 1]) {
      const text = chunk.text(`# ${id}, run ${rep} of arm ${arm}\n\n` + Array.from({ length: 14 }, () => `Line with the value ${Math.floor(random() * 1e9)} and a little more text in it.`).join("\n") + "\n");
      runs.push([arm, 0, rep, "ok", 1, 2, false]);
      const elapsed_ms = Math.round(random() * 20000);
      detail.runs.push({ arm, model: 0, rep, dir: `${id}/run-${rep}`, status: "ok", elapsed_ms, tokens: 5000, cost: null, answer: [{ path: "output.md", text }], checks: [{ outcome: "pass", evidence: "", spans: [[text, 2, 11]] }, { outcome: "fail", evidence: "no match", spans: [] }],
        trace: traceOf(elapsed_ms, arm === 0), files: [], telemetry: telemetryOf({ elapsed_ms, tokens: 5000, cost: null, loaded: arm === 0 }) });
    }
    chunk.cases[id] = detail;
    cases.push({ id, title: `Title of ${id}`, split: null, tags: [], domain: "d" + (position % 7), difficulty: null, intent: null, flags: lift < 0 ? [["Worse with the skill", "regressed", "bad"]] : [], queue: lift < -0.5 ? 2 : null, without, with: withSkill, lift, ci: [Math.max(-1, lift - 0.2), Math.min(1, lift + 0.2)],
      pairs: 5, blocked: 0, unstable: false, cost: null, cost_reason: "not reported", reasons: [], runs, chunk: chunks.length - 1 });
  }
  return pageOf({ models: ["model-1"], arms: [WITH, WITHOUT], cases, chunks, subtitle: "iteration-4 · 1,000 cases · 5 repetitions" });
}

function sparse() {
  const chunk = new Chunk(), reason = "The runner wrote nothing; not_reported";
  const item = (id, values) => ({ id, title: null, split: null, tags: [], domain: null, difficulty: null, intent: null, flags: [], queue: null, without: null, with: null, lift: null, lift_reason: reason, ci: null, ci_reason: "one pair only", pairs: 0, blocked: 0, unstable: false, cost: null, cost_reason: reason, reasons: [], runs: [], chunk: 0, ...values });
  const measured = chunk.text("An answer.\n");
  const run = (arm, values) => ({ arm, model: 0, rep: 1, dir: null, status: "ok", elapsed_ms: null, tokens: null, cost: null, answer: null, checks: null, trace: null, files: [], telemetry: telemetryOf({ elapsed_ms: null, tokens: null, cost: null, loaded: null }), ...values });
  chunk.cases = { "no-run": { turns: [], files_in: [], expected: [], checks: [], runs: [] },
    "one-arm": { turns: [chunk.text("Do it.")], files_in: [], expected: [], checks: [{ name: "it works", type: "regex", severity: "gate" }], runs: [run(0, { answer: [{ path: "output.md", text: measured }], trace: [{ at: null, ms: null, kind: "command", label: "ls", ok: null }, { at: null, ms: null, kind: "message", label: "done", ok: null }] })] },
    "one-pair": { turns: [chunk.text("Do it.")], files_in: [], expected: [], checks: [{ name: "it works", type: "regex", severity: "gate" }], runs: [run(0), run(1)] },
    "other-pair": { turns: [chunk.text("Do it.")], files_in: [], expected: [], checks: [{ name: "it works", type: "regex", severity: "gate" }], runs: [run(0), run(1)] } };
  const cases = [item("no-run", {}), item("one-arm", { with: 1, blocked: 1, queue: 4, runs: [[0, 0, 1, "ok", null, null, false]], flags: [["Blocked pair", "blocked pair", "warn"]], reasons: [["warn", "1 of 1 pair is blocked: Without the skill: run is missing."]] }),
    item("one-pair", { without: 0, with: 0.004, lift: 0.004, pairs: 1, runs: [[0, 0, 1, "ok", 1, 1, false], [1, 0, 1, "ok", 0, 1, false]] }), item("other-pair", { without: 1, with: 0.5, lift: -0.5, pairs: 1, runs: [[0, 0, 1, "ok", 0, 1, false], [1, 0, 1, "ok", 1, 1, false]] })];
  return pageOf({ headline: "Too few cases to tell", models: [""], arms: [WITH, WITHOUT], cases, chunks: [chunk], subtitle: "4 cases" });
}

function rtlCjk() {
  const chunk = new Chunk(), cases = [];
  const texts = {
    "hebrew-headers": ["הקובץ לקוחות.csv לא נטען. נקו אותו בלי לשנות את הכותרות.\n\n(The file will not load. Clean it without changing the headers.)", "# ניקוי לקוחות\n\nהקובץ נוקה ונשמר. 318 שורות.\n\nEncoding: UTF-8. 318 rows in, 318 rows out.\n\n- שם לקוח\n- customer_name\n"],
    "ja-customers": ["顧客リストを整えてください。", "# 顧客リスト\n\n" + "文字コードを変換しました。行数は三百十八行です。".repeat(12) + "\n\n合計は 318 行です 👨‍👩‍👧 (318 rows).\n"],
    "arabic-mixed": ["نظف الملف orders.csv من فضلك.", "تم حفظ 318 صفا في orders.csv.\n\nDone: 318 rows.\n"],
  };
  for (const [id, [prompt, answer]] of Object.entries(texts)) {
    const text = chunk.text(answer), spans = spansOf(chunk, text, "318 (rows|行)"), check = { outcome: spans.length ? "pass" : "fail", evidence: answer.split("\n")[2], spans };
    const run = (arm) => ({ arm, model: 0, rep: 1, dir: id, status: "ok", elapsed_ms: 5000, tokens: 900, cost: null, answer: [{ path: "output.md", text }], checks: [check], trace: traceOf(5000, arm === 0), files: [{ path: "לקוחות.csv", bytes: 1204 }], telemetry: telemetryOf({ elapsed_ms: 5000, tokens: 900, cost: null, loaded: arm === 0 }) });
    chunk.cases[id] = { turns: [chunk.text(prompt)], files_in: [], expected: [], checks: [{ name: "row count is stated", type: "regex", severity: "gate" }], runs: [run(0), run(1)] };
    cases.push({ id, title: prompt.split("\n")[0], split: null, tags: [], domain: "encoding", difficulty: null, intent: null, flags: [], queue: null, without: 1, with: 1, lift: 0, ci: null, ci_reason: "every repetition gave the same result", pairs: 1, blocked: 0, unstable: false, cost: null, cost_reason: "not reported", reasons: [], runs: [[0, 0, 1, "ok", 1, 1, false], [1, 0, 1, "ok", 1, 1, false]], chunk: 0 });
  }
  return pageOf({ models: ["model-1"], arms: [WITH, WITHOUT], cases, chunks: [chunk], subtitle: "3 cases" });
}

const BUILDERS = { demo, hostile, big, sparse, "rtl-cjk": rtlCjk }, built = new Map();

export function page(name) {
  if (!built.has(name)) built.set(name, BUILDERS[name]());
  return built.get(name);
}
