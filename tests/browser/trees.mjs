// Suites and trees of runs, written for the pages under test: the same bytes each time, no clock.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { HIDDEN, SEQUENCES } from "./fixtures.mjs";

export const ARMS = ["with_skill", "without_skill"];

// The same numbers on every machine.
export function numbersFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

// A folder with a suite and the runs of its cases.
export class Tree {
  constructor(folder) {
    this.folder = folder;
  }

  write(path, contents) {
    const place = join(this.folder, path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, typeof contents === "string" || Buffer.isBuffer(contents) ? contents : JSON.stringify(contents));
  }

  suite(cases, { skill_name = "demo", ...more } = {}) {
    this.write("skills/demo/SKILL.md", "---\nname: demo\ndescription: Says yes.\n---\nSay yes.\n");
    this.write("evals/shared-benchmark.json", { version: 2, skill_name, skill_paths: ["skills/demo/SKILL.md"], variants: ARMS, ...more,
      cases: cases.map((item) => ({ split: "tune", prompt: "Do it.", ...item })) });
  }

  // The files of one run; an answer that is null is not written.
  run(folder, { answer = null, files = {}, ...sidecars }) {
    if (answer != null) this.write(`runs/${folder}/output.md`, answer);
    for (const [name, value] of Object.entries(sidecars)) this.write(`runs/${folder}/${name}.json`, value);
    for (const [path, contents] of Object.entries(files)) this.write(`runs/${folder}/${path}`, contents);
  }
}

// --- hostile -------------------------------------------------------------------------------------------------------

export const BREAKOUT = "</script><script>document.title='PWNED'</script><!-- <img src=x onerror=\"document.title='PWNED'\"> \u2028 \u2029 {{7*7}} {% raw %}";
const HIDING = "\u202e\u200b\u00ad\u{e0041}";
const FOREIGN = "https://example.org";

const HOSTILE_ANSWERS = {
  "<img src=x onerror=\"document.title='PWNED'\">": `# ${BREAKOUT}\n\n<iframe src="${FOREIGN}"></iframe>\n[click](${FOREIGN}) ![pixel](${FOREIGN}/p.png) <a href="${FOREIGN}">a</a>\n\n| <b>x</b> | ${BREAKOUT} |\n|---|---|\n| javascript:alert(1) | [y](javascript:alert(1)) |\n`,
  "script-alone": "</script><script>document.title='PWNED'</script>",
  "comment-open": "<!--<script>\nand ]]> and <![CDATA[\n",
  "hidden-characters": HIDDEN.filter((character) => character !== "\0").map((character) => `a${character}b`).join("\n").replaceAll("\r\n", "\r \n") + "\n",
  "terminal-sequences": SEQUENCES.map((sequence) => `x ${sequence} y`).join("\n") + "\n",
  "template-syntax": "{{7*7}} {% include '/etc/passwd' %} ${7*7} <%= 7*7 %> #{7*7}\n",
  "\u202egnp.exe\u200b": "a lone\rreturn\r\nand a line end\n",
  "nested/</script>/case": "the folder of its runs has the name of a tag\n",
  "__proto__": "ordinary\n",
  "constructor": "ordinary as well\n",
  "a&m=2#b%20c": "ordinary, too\n",
  "html-report": `<!doctype html><html><body><script>document.title='PWNED'</script><table><tr><td>1</td></tr></table></body></html>\n`,
};
// The id of this case is changed in the report: no suite may hold such an id, but the report of another tool may.
export const RENAMED = { from: "terminal-sequences", to: "\u001b]0;x\u0007\u001b[2J" };

export function hostile(tree) {
  const ids = Object.keys(HOSTILE_ANSWERS);
  const cases = ids.map((id, position) => ({
    id, prompt: `${BREAKOUT}\n${HIDING}\u001b[31mred`, domain: `domain ${BREAKOUT}`, difficulty: `hard ${HIDING}`, tags: [BREAKOUT, `tag ${HIDING}`],
    expected_behavior: [BREAKOUT, HIDING], files: [`inputs/<b>${HIDING}.csv`],
    assertions: [
      { type: "contains", name: `${BREAKOUT} ${HIDING}`, value: position % 2 ? "plain" : "ordinary" },
      { type: "regex", name: "</td><td>", pattern: "</?script>|<!--|\\u202e", severity: position % 3 ? "gate" : "critical" },
      { type: "judge", name: "judged", severity: "soft", threshold: 4, rubric: [BREAKOUT] },
    ],
  }));
  cases.push({ id: "turns", turns: [{ prompt: BREAKOUT }, { prompt: `\u001b[2J${HIDING}` }], prompt: undefined, assertions: [{ type: "contains", name: "x", value: "plain" }] });
  tree.suite(cases, { notes: BREAKOUT });
  tree.write(`evals/inputs/<b>${HIDING}.csv`, "a,b\n");
  const events = { schema_version: 2, events: [
    { index: 1, type: "command", status: "completed", name: BREAKOUT, input_summary: BREAKOUT, output_summary: `${BREAKOUT}\u001b[31mred${HIDING}`, timestamp: "2025-01-01T00:00:00Z", duration_ms: 5 },
    { index: 2, type: "constructor", status: "completed", name: "__proto__", input_summary: HIDING },
    { index: 3, type: "message", status: "failed", role: BREAKOUT, input_summary: "</script>" },
  ] };
  const missing = { availability: "unavailable", reason: `${BREAKOUT} ${HIDING}` };
  const metadata = { returncode: 0, runner: BREAKOUT, telemetry_schema_version: 3, telemetry: { schema_version: 3, population: "answer", basis: {},
    measurements: { total_tokens: missing, cost: missing, elapsed_ms: { availability: "available", value: 12, provenance: "trace_normalized", basis: {} } } } };
  const files = {
    "outputs/page.html": `<script>document.title='PWNED'</script><iframe src="${FOREIGN}"></iframe>`,
    "outputs/report.pdf": Buffer.from("%PDF-1.4\n\u0000\u0001 not a real one\n", "latin1"),
    "outputs/picture.svg": `<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><script>parent.document.title='PWNED'</script><image href="${FOREIGN}/p.png"/><rect width="8" height="8"/></svg>`,
    "outputs/not-a-picture.png": "<script>document.title='PWNED'</script>",
    "outputs/table.csv": `=HYPERLINK("${FOREIGN}"),"<script>"\n-1+1,${HIDING}\n`,
    [`outputs/${HIDING}gpj.exe`]: "x",
    [`outputs/<img src=x onerror=alert(1)>\u001b[2J.txt`]: `${BREAKOUT}\u001b]0;t\u0007`,
    "outputs/javascript:alert(1)": "x",
  };
  const verdicts = [];
  for (const [id, answer] of Object.entries(HOSTILE_ANSWERS)) for (const arm of ARMS) {
    const isWith = arm === "with_skill";
    tree.run(`${id}/${arm}`, { answer: isWith ? answer : "plain\n", metadata, ...(isWith ? { events, files } : {}) });
    verdicts.push({ judge_task_id: `${id}::${arm}::run-1::judged`, passed: !isWith, score: isWith ? 2 : 4, threshold: 4, judge_model: BREAKOUT, rationale: `${BREAKOUT}\u001b[31m${HIDING}` });
  }
  tree.run("turns/with_skill", { answer: `plain${HIDING}\n`, files: { "turn-1/output.md": BREAKOUT, "turn-2/output.md": `plain${HIDING}\n` } });
  tree.run("turns/without_skill", { answer: "nothing\n", files: { "turn-1/output.md": "a", "turn-2/output.md": "nothing\n" } });
  tree.write("verdicts.json", verdicts);
}

// --- sparse --------------------------------------------------------------------------------------------------------

export function sparse(tree) {
  const yes = { type: "contains", name: "says yes", value: "yes" }, no = { type: "excludes_any", name: "does not say no", values: ["no"] };
  tree.suite([
    { id: "no-run", assertions: [yes] },
    { id: "one-arm", assertions: [yes, no] },
    { id: "one-pair", assertions: [yes, no] },
    { id: "other-pair", assertions: [yes, no] },
    { id: "no-answer", assertions: [yes] },
    { id: "no-checks", assertions: [] },
    { id: "judge-only", assertions: [{ type: "judge", name: "reads well", rubric: ["It reads well."] }] },
  ]);
  const events = { schema_version: 2, events: [{ index: 1, type: "command", status: "completed", input_summary: "ls" }, { index: 2, type: "message", status: "completed", role: "assistant", output_summary: "done" }] };
  tree.run("one-arm/with_skill", { answer: "yes\n", events });
  tree.run("one-pair/with_skill", { answer: "yes\n" });
  tree.run("one-pair/without_skill", { answer: "nothing\n" });
  tree.run("other-pair/with_skill", { answer: "no\n" });
  tree.run("other-pair/without_skill", { answer: "nothing\n" });
  tree.run("no-answer/with_skill", { metadata: { returncode: 1, timed_out: true }, events });
  tree.run("no-answer/without_skill", { answer: "yes\n", metadata: {} });
  for (const id of ["no-checks", "judge-only"]) for (const arm of ARMS) tree.run(`${id}/${arm}`, { answer: "Something.\n" });
}

// --- rtl-cjk -------------------------------------------------------------------------------------------------------

const SCRIPTS = {
  "hebrew-headers": ["הקובץ לקוחות.csv לא נטען. נקו אותו בלי לשנות את הכותרות.\n\n(The file will not load. Clean it without changing the headers.)",
    "# ניקוי לקוחות\n\nהקובץ נוקה ונשמר. 318 שורות.\n\nEncoding: UTF-8. 318 rows in, 318 rows out.\n\n- שם לקוח\n- customer_name\n", "318 (rows|שורות)"],
  "arabic-mixed": ["نظف الملف orders.csv من فضلك.", "تم حفظ 318 صفا في orders.csv.\n\nDone: 318 rows.\n\nاكتمل العمل.\n", "318 (rows|صفا)"],
  "chinese-summary": ["请整理客户名单。", "# 客户名单\n\n" + "编码已转换,行数不变,没有丢失任何单元格。".repeat(12) + "\n\n合计 318 行。\n", "318 行"],
  "ja-customers": ["顧客リストを整えてください。", "# 顧客リスト\n\n" + "文字コードを変換しました。行数は三百十八行です。".repeat(12) + "\n\n合計は 318 行です 👨‍👩‍👧 (318 rows).\n", "318 (rows|行)"],
  "emoji-and-marks": ["Say it with 👩🏽‍🚀.", "👨‍👩‍👧 family, 🇮🇱 flag, 👩🏽‍🚀 astronaut, 1️⃣ key.\n\nZ͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢ and e\u0301 are marks; 318 rows 🧮 after them.\n\nனி नि กำ may not be torn apart.\n", "318 rows"],
};

export function rtlCjk(tree) {
  tree.suite(Object.entries(SCRIPTS).map(([id, [prompt, , pattern]]) => ({ id, prompt, domain: "encoding", assertions: [{ type: "regex", name: "row count is stated", pattern }, { type: "contains", name: "names the file: לקוחות, 顧客", value: "csv" }] })),
    { skill_name: "demo-清洗-ניקוי" });
  for (const [id, [, answer]] of Object.entries(SCRIPTS)) for (const arm of ARMS) {
    tree.run(`${id}/${arm}`, { answer: arm === "with_skill" ? answer : answer.replaceAll("318", "319"), metadata: { returncode: 0, elapsed_ms: 5000 }, files: { "outputs/לקוחות.csv": "שם,סכום\nדנה,318\n", "outputs/顧客.txt": "顧客\n" } });
  }
}

// --- big -----------------------------------------------------------------------------------------------------------

export const BIG = { cases: 1000, repetitions: 5 };

export function big(tree) {
  const random = numbersFrom(7), words = ["alpha", "bravo", "carbon", "delta"], name = (position) => `case-${String(position).padStart(4, "0")}`;
  tree.suite(Array.from({ length: BIG.cases }, (_, position) => ({ id: name(position), prompt: `Prompt of ${name(position)}.`, domain: `d${position % 7}`, difficulty: ["easy", "medium", "hard"][position % 3],
    assertions: words.map((word, i) => ({ type: "contains", name: `says ${word}`, value: word, ...(i === 3 && position % 50 === 0 ? { severity: "critical" } : {}) })) })));
  for (let position = 0; position < BIG.cases; position++) {
    const chance = { without_skill: 0.3 + 0.4 * random(), with_skill: 0.3 + 0.6 * random() };
    for (let rep = 1; rep <= BIG.repetitions; rep++) for (const arm of ARMS) {
      const said = words.filter(() => random() < chance[arm]).join(", "), elapsed_ms = Math.round(random() * 20000), fate = random();
      const lines = Array.from({ length: 5 }, () => `Line with the value ${Math.floor(random() * 1e9)} and a little more text in it.`);
      let answer = `# ${name(position)}, run ${rep} of ${arm}\n\n${said}\n\n${lines.join("\n")}\n`, metadata = { returncode: 0, elapsed_ms, total_tokens: 400 + Math.floor(random() * 9000), cost_usd: Math.floor(random() * 1000) / 1e5 };
      // one answer in a hundred ends badly in some way
      if (fate < 0.004) answer = null;
      else if (fate < 0.008) metadata = { ...metadata, timed_out: true, returncode: 124 };
      else if (fate < 0.01) answer = "";
      if (position === 7 && rep === 1 && arm === "with_skill") answer = Array.from({ length: 80000 }, (_, line) => `line ${line} of a long answer`).join("\n") + "\n";
      const events = position % 20 ? {} : { events: { schema_version: 2, events: [{ index: 1, type: arm === "with_skill" ? "skill_load" : "file_read", status: "completed", name: "demo", duration_ms: 20, timestamp: "2025-01-01T00:00:00Z" }, { index: 2, type: "command", status: "completed", input_summary: "ls", output_summary: "a\nb", duration_ms: 300, timestamp: "2025-01-01T00:00:01Z" }] } };
      tree.run(`${name(position)}/${arm}/run-${rep}`, { answer, metadata, ...events });
    }
  }
}
