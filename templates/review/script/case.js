// ---- The page of a case
const shown = { id: null, head: null, rail: null, runs: null };

function keepFocus(box, draw) {
  const active = box.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  draw();
  const again = active && [...box.querySelectorAll("[data-key]")].find((element) => element.dataset.key === active);
  if (again && again !== document.activeElement) again.focus({ preventScroll: true });
}

const button = (key, name, pressed, click, classes) => h("button", { "data-key": key, class: classes, "aria-pressed": pressed == null ? null : String(pressed), click }, name);
const block = (title, hint, ...content) => h("section.blk", h("div.head", h("h2", title), hint && h("p.muted.small", hint)), content);
const caseLink = (item) => addressOf({ view: "case", id: item.id, ...NO_CHOICE });

function renderCase() {
  const item = caseOf(state.id), page = byId("case");
  if (!item) {
    shown.id = null;
    page.replaceChildren(h("div.case", h("h1", { tabindex: -1 }, "No such case"),
      h("p", "This review has no case “", h("bdi", state.id), "”."), h("p", h("a", { href: "#cases" }, "Show all cases"))));
    return;
  }
  if (shown.id !== item.id) {
    printable = [];
    Object.assign(shown, { id: item.id, rail: h("nav.rail", { "aria-label": "Cases" }), head: h("div"), runs: h("div") });
    forms.about = "";
    page.replaceChildren(h("div.cp", shown.rail, h("article.case", shown.head, promptBlocks(item), shown.runs)));
    shown.printable = printable;
  }
  printable = [...shown.printable];
  keepFocus(page, () => {
    renderRail();
    replace(shown.runs, runBlocks(item, caseData(item)));
  });
}

const caseData = (item) => chunk(item.chunk)?.cases?.[item.id];
const textAt = (item, number) => chunk(item.chunk).texts[number] || { bytes: 0, text: "" };

function renderRail() {
  const item = caseOf(state.id), items = shownCases(), at = items.indexOf(item);
  // a long list shows the neighbours only: this is the way on, not the list
  const near = items.slice(Math.max(0, at - 100), Math.max(0, at) + 100);
  shown.rail.replaceChildren(...near.map((other) => h("a", { href: caseLink(other), "aria-current": other === item ? "page" : null, "data-key": "rail " + other.id },
    glyphMark(other), h("bdi", other.id), other.lift == null ? h("span.muted", "?", h("span.vh", " " + NOT_MEASURED)) : h("span", { class: other.lift < 0 ? "down" : "muted" }, wholeEnd(other.lift), h("span.vh", " pp")))));
  const current = shown.rail.querySelector("[aria-current]");
  if (current) shown.rail.scrollTop = current.offsetTop - 200;
  shown.head.replaceChildren(...caseHead(item, items, at));
}

function caseHead(item, items, at) {
  const step = (other, key, name) => h("a.btn.sm", { "data-key": key, href: other ? caseLink(other) : null, "aria-disabled": other ? null : "true", role: other ? null : "link" }, name);
  const place = at < 0 ? "not in the current filter" : `${count(at + 1)} of ${count(items.length)}` + (state.f === "all" ? "" : " · " + FILTERS[state.f][0].toLowerCase());
  const tags = [item.domain, item.difficulty, item.split, ...(item.tags || [])].filter(Boolean);
  const pairs = counted(item.pairs, "pair");
  return [
    h("div.crumb", h("a", { href: addressOf({ view: "cases" }), "data-key": "back" }, "Cases"), h("span.muted", place), h("span.sp"),
      step(items[at - 1], "previous", "← Previous"), step(at < 0 ? null : items[at + 1], "next", "Next →")),
    h("h1", { tabindex: -1, dir: "auto" }, item.id),
    h("p", h("bdi", item.title), item.title ? " " : null, tags.flatMap((tag) => [h("span.tag", tag), " "]), flagTags(item)),
    h("div.sum",
      h("span", "Pass rate ", h("b", shownRate(item.without, item.lift_reason)), ` ${armWords(1).replace(/^without the skill$/, "without")}, `, h("b", shownRate(item.with, item.lift_reason)), " with"),
      h("span", "Lift ", shownLift(item), item.lift == null ? null
        : h("span.muted", { title: item.ci ? null : item.ci_reason }, item.ci ? ` (95% interval ${wholeInterval(...item.ci)}, ${pairs})` : ` (no interval, ${pairs})`)),
      h("span", "Extra cost ", h("b", shownCost(item)))),
    item.reasons.map(([tone, sentence]) => h("p", { class: tone === "bad" ? "why" : "why warn" }, sentence)),
  ].flat();
}

const bytesOf = (file) => h("span.muted.small.nw", file.bytes == null ? missing() : size(file.bytes));
const textBlock = (item, number) => {
  const entry = textAt(item, number);
  return [textNotes(entry, "the suite"), textBox(h("div.prompt", { ...FOREIGN, tabindex: -1 }), entry, { tail: 0, head: 12 })];
};

function promptBlocks(item) {
  const data = caseData(item);
  if (!data) return null;
  const turns = data.turns || [], files = data.files_in || [], expected = data.expected || [];
  return [
    block("Prompt", null, turns.length ? turns.map((number, i) => [turns.length > 1 ? h("h3.small", `Turn ${i + 1}`) : null, textBlock(item, number)])
      : h("p.muted", "The prompt is not in this page."),
    files.length ? h("ul.files", files.map((file) => h("li", h("code", file.path), bytesOf(file)))) : null,
    expected.length ? h("details.fold", h("summary", "What a good answer does"), expected.map((number) => textBlock(item, number))) : null)];
}

// ---- The runs: one cell per model and repetition
function runWords(run) {
  if (!run) return "✕ missing";
  const [, , , status, passed, total, vetoed] = run;
  if (status !== "ok") return "✕ " + (/timed out/.test(status) ? "timeout" : /missing/.test(status) ? "missing" : "error");
  return vetoed ? "! veto" : passed == null ? "✕ ungraded" : `${passed}/${total}`;
}

function runMatrix(item) {
  const repetitions = repetitionsOf(item), models = modelsOf(item), dense = repetitions.length > 12;
  const others = comparisons(item).filter(({ arm }) => arm > 1);
  // the words of a cell are in it, but only its signs and numbers are seen; dense cells show signs alone
  const line = ([sign, name, words], last) => h("div", { class: /^[✕!]/.test(words) ? "no" : sign === "●" ? null : "muted" },
    h("span", { "aria-hidden": "true" }, sign + " "), h("span.vh", name + " "), dense ? [/^[✕!]/.exec(words), h("span.vh", words)] : words, last ? null : h("span.vh", ", "));
  const cell = (model, repetition, other) => {
    const run = (arm) => runWords(summaryOf(item, arm, model, repetition)), chosen = model === chosenModel(item) && repetition === chosenRepetition(item);
    const lines = other ? [["◆", other.name, run(other.arm)]] : [["●", armWords(0), run(0)], ["○", armWords(1), run(1)]];
    return button(`run ${model} ${repetition} ${other?.key || ""}`, [h("span.vh", `${modelName(model)}, repetition ${repetition}: `), lines.map((one, i) => line(one, i + 1 === lines.length))],
      chosen && (!other || state.cmp === other.key), () => go({ m: model, r: repetition, ...(other ? { cmp: other.key } : {}) }, true));
  };
  const row = (model, other) => h("div.row", h("span.m.mono", other ? other.name : modelName(model)), repetitions.map((repetition) => cell(model, repetition, other)));
  if (!item.runs.length) return block("Runs", null, h("p.muted", "No run of this case was found."));
  return block("Runs", `● ${armWords(0)}, ○ ${armWords(1)}: checks passed`,
    h("div", { class: dense ? "runs dense" : "runs", role: "group", "aria-label": "Choose a model and a repetition", tabindex: dense ? 0 : null },
      h("div.row.h", h("span.m"), repetitions.map((repetition) => h("span.muted", dense ? repetition : `Repetition ${repetition}`))),
      models.map((model) => [row(model), others.map((other) => row(model, other))])));
}

// ---- The two sides that are shown: { name, run, summary, answer, checks, why } with `why` for an absent answer
function sides(item, data) {
  const model = chosenModel(item), repetition = chosenRepetition(item);
  const side = (arm, name, short) => {
    const run = data.runs.find((other) => other.arm === arm && other.model === model && other.rep === repetition);
    const reason = !index.runs_given ? "Answers are not in this page. Render it again with --runs." : run?.answer_reason || "No answer was saved for this run.";
    return { arm, name, short, run, summary: summaryOf(item, arm, model, repetition), answer: run?.answer, checks: run?.checks, reason };
  };
  const left = side(0, index.arms[0].name, shortArm(0));
  const chosen = comparisons(item).find(({ key }) => key === state.cmp);
  if (state.cmp !== "prev") return [left, side(chosen.arm, chosen.name, chosen.short)];
  const earlier = left.run?.previous;
  if (earlier?.same) return [left, { ...left, name: chosen.name, short: chosen.short, same: true }];
  return [left, {
    arm: 0, name: chosen.name, short: chosen.short, run: earlier ? {} : null, answer: earlier?.answer, checks: earlier?.checks,
    summary: earlier ? [0, model, repetition, earlier.status || "ok", earlier.passed, earlier.total, false] : null,
    absent: !earlier, reason: earlier ? "No answer was saved for this run." : `${index.previous} has no run of this case.`,
  }];
}

function marksOf(checks, text) {
  return (checks || []).flatMap((check, number) => (check?.spans || []).filter(([where]) => where === text).map(([, from, to]) => ({ from, to, check: number })))
    .sort((a, b) => a.from - b.from || a.to - b.to);
}

function sideFacts({ run, summary }) {
  const facts = [run?.elapsed_ms != null && time(run.elapsed_ms), run?.tokens != null && tokens(run.tokens) + NO_BREAK + "tok", run?.cost && money(run.cost.value, run.cost.currency)];
  const words = runWords(summary), status = summary?.[3];
  return [
    !summary ? h("span.tag.warn", "run is missing") : status !== "ok" ? h("span.tag.warn", status)
      : words === "! veto" ? h("span.no", "Vetoed: critical check failed")
      : summary[4] == null ? missing(null, "not graded") : h("span.muted", `${summary[4]} of ${counted(summary[5], "check")}`),
    h("span.sp"), h("span.muted.small.nw", facts.filter(Boolean).join(" · "))];
}

const fullPath = (side, path) => (side.run?.dir ? side.run.dir + "/" : "") + path;

function answerBlocks(item, side) {
  if (!side.answer) return h("div.empty", side.reason);
  return side.answer.map((file) => {
    const name = side.answer.length > 1 ? h("h4.file", file.path) : null;
    if (file.text == null) return [name, h("div.empty", `Not text: ${file.binary}, ${size(file.bytes)}.`, h("br"), h("code", fullPath(side, file.path)))];
    const entry = textAt(item, file.text);
    if (!entry.bytes) return [name, h("div.empty", "The answer is empty (0 bytes).")];
    const box = scroller("div.out." + state.show, `${side.name}, ${file.path}`, FOREIGN);
    return [name, textNotes(entry, fullPath(side, file.path)), textBox(box, entry,
      { marks: marksOf(side.checks, file.text), chosen: state.a, show: state.show, level: name ? 5 : 4 })];
  });
}

function answerColumn(item, side, classes) {
  return h("section", { class: "arm " + classes, "aria-label": side.name },
    h("header", h("h3", side.name), side.absent ? h("span.tag.warn", "not compared") : sideFacts(side)),
    side.same ? h("div.alert.cut", `The answer is the same in ${index.previous}.`) : null, answerBlocks(item, side));
}

function answers(item, [left, right]) {
  const segment = (label, options, chosen, set) => h("div.seg", { role: "group", "aria-label": label },
    options.map(([key, name]) => button(`${label} ${key}`, name, key === chosen, () => go(set(key), true))));
  const section = block("Answers", `${modelName(chosenModel(item))}, repetition ${chosenRepetition(item)}`,
    state.show === "diff" ? diffView(item, right, left) : h("div.arms", answerColumn(item, left, "w"), answerColumn(item, right, "o")));
  const head = section.firstChild, switches = h("div.switches",
    segment("Show answers as", [["md", "Rendered"], ["raw", "Raw"], ["diff", "Difference"]], state.show, (show) => ({ show })),
    comparisons(item).length > 1 && segment("Compare with", comparisons(item).map(({ key, short }) => [key, short]), state.cmp, (cmp) => ({ cmp })));
  section.prepend(h("div.answers", head, switches));
  return section;
}

// ---- The difference by lines
const DIFF_CELLS = 4e6, DIFF_AROUND = 3;

// [sign, line of a, line of b] in order; null when the part that differs is too long to compare.
function diffLines(a, b) {
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const n = a.length - head - tail, m = b.length - head - tail, wide = m + 1, same = (i, j) => a[head + i] === b[head + j];
  if ((n + 1) * wide > DIFF_CELLS) return null;
  // longest common subsequence of what lies between
  const best = new Uint16Array((n + 1) * wide);
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) best[i * wide + j] = same(i, j) ? best[(i + 1) * wide + j + 1] + 1 : Math.max(best[(i + 1) * wide + j], best[i * wide + j + 1]);
  }
  const rows = [];
  for (let i = 0; i < head; i++) rows.push([" ", i, i]);
  for (let i = 0, j = 0; i < n || j < m;) {
    if (i < n && j < m && same(i, j)) rows.push([" ", head + i++, head + j++]);
    else if (j >= m || (i < n && best[(i + 1) * wide + j] >= best[i * wide + j + 1])) rows.push(["−", head + i++, null]);
    else rows.push(["+", null, head + j++]);
  }
  for (let i = tail; i > 0; i--) rows.push([" ", a.length - i, b.length - i]);
  return rows;
}

// Runs of equal lines become one gap; the lines next to a difference stay.
function foldEqual(rows) {
  const near = new Set();
  rows.forEach(([sign], i) => { if (sign !== " ") for (let k = i - DIFF_AROUND; k <= i + DIFF_AROUND; k++) near.add(k); });
  const folded = [];
  rows.forEach((row, i) => {
    if (near.has(i) || (near.has(i - 1) && near.has(i + 1))) folded.push(row);
    else if (folded.at(-1)?.[0] === "…") folded.at(-1)[1]++;
    else folded.push(["…", 1]);
  });
  return folded;
}

function diffView(item, before, after) {
  const textsOf = (side) => new Map((side.answer || []).filter((file) => file.text != null).map((file) => [file.path, file.text]));
  const old = textsOf(before), now = textsOf(after), paths = [...new Set([...now.keys(), ...old.keys()])];
  if (!old.size || !now.size) return h("div.arm.empty", "No difference to show: ", (now.size ? before : after).absent ? (now.size ? before : after).reason : `${(now.size ? before : after).name}: no text was saved.`);
  return h("div.arm", h("header", h("h3", "Difference by lines"), h("span.muted.small", `− only in: ${before.name}. + only in: ${after.name}.`)),
    paths.map((path) => diffFile(item, path, [before, old.get(path)], [after, now.get(path)], paths.length > 1)));
}

function diffFile(item, path, ...given) {
  const [a, b] = given.slice(0, 2).map(([side, number]) => {
    const entry = number == null ? { bytes: 0, text: "" } : textAt(item, number);
    return { view: { text: entry.text, marks: marksOf(side.checks, number), chosen: state.a }, lines: number == null ? [] : numbered(linesOf(entry)) };
  });
  const content = ({ view, lines }) => lines.map((line) => (line.gap == null ? view.text.slice(line.from, line.to) : `\n${line.gap}`));
  const rows = diffLines(content(a), content(b)), name = given[2] ? h("h4.file", path) : null;
  if (!rows) return [name, h("div.empty", `Too many lines differ to compare them: ${count(a.lines.length)} and ${count(b.lines.length)}.`)];
  if (rows.every(([sign]) => sign === " ")) return [name, h("div.empty", "Both texts are the same.")];
  const draw = (part) => part.map(([sign, i, j]) => {
    if (sign === "…") return h("p.gap", `… ${counted(i, "equal line")} …`);
    const { view, lines } = sign === "−" ? a : b, line = lines[sign === "−" ? i : j];
    const words = sign === "−" ? "removed: " : sign === "+" ? "added: " : "";
    return h("div", { class: "ln diff" + (sign === "−" ? " old" : sign === "+" ? " new" : "") }, h("span", { "aria-hidden": "true" }, i == null ? "" : i + 1),
      h("span", { "aria-hidden": "true" }, j == null ? "" : j + 1), h("span", { "aria-hidden": "true" }, sign),
      h("div", { dir: "auto" }, words ? h("span.vh", words) : null, line.gap == null ? longLine(view, line.from, line.to, (from, to) => marked(view, from, to)) : `… ${size(line.gap)} not in this page …`));
  });
  return [name, limited(scroller("div.out.raw", "Difference by lines, " + path, { lang: "" }), foldEqual(rows), draw)];
}

// ---- Checks
const SEVERITIES = { critical: ["bad", "critical: fails the run"], soft: ["", "soft: not in the pass rate"] };
const OUTCOMES = { undecided: "The judges disagree; no verdict", error: "the check could not run", skipped: "skipped", pending: "waiting for a judge", unsupported: "this check is not supported" };

function checks(item, data, [left, right]) {
  const all = data.checks || [];
  if (!all.length) return block("Checks", null, h("p.muted", "This case has no checks."));
  const outcome = (side, number) => side.checks?.[number]?.outcome;
  const differs = (number) => outcome(left, number) && outcome(right, number) && outcome(left, number) !== outcome(right, number);
  const order = [...all.keys()].sort((a, b) => (differs(b) ? 1 : 0) - (differs(a) ? 1 : 0) || a - b);
  const head = (name) => h("th", { scope: "col" }, name);
  return block("Checks", "the ones that differ first; choose one to mark its match in both answers",
    h("table.as", { "aria-label": "Checks" }, h("thead", h("tr", head("Check"), head(left.name), head(right.name))),
      h("tbody", order.map((number) => h("tr", { class: state.a === number ? "chosen" : null },
        checkName(all[number], number), checkCell(left, number), checkCell(right, number))))));
}

function checkName(check, number) {
  const [tone, words] = SEVERITIES[check.severity] || [];
  return h("td", { role: "rowheader" }, button("check " + number, check.name, state.a === number, () => chooseCheck(number), "nm"),
    h("span.ev", h("code", check.type), words ? [" ", h("span", { class: ("tag " + tone).trim() }, words)] : null, check.note ? " " + check.note : null));
}

function chooseCheck(number) {
  go({ a: state.a === number ? null : number }, true);
  for (const box of byId("case").querySelectorAll(".out")) {
    const mark = box.querySelector("mark.on");
    if (mark) box.scrollTop += mark.getBoundingClientRect().top - box.getBoundingClientRect().top - 60;
  }
}

function checkCell(side, number) {
  const check = side.checks?.[number], words = check && (check.words || OUTCOMES[check.outcome]);
  const outcome = !check ? missing(side.absent ? side.reason : null, "not graded") : check.outcome === "pass" ? h("span.ok", "✓ pass")
    : check.outcome === "fail" ? h("span.no", "✕ fail") : h("span.muted", words || check.outcome);
  return h("td", { "data-label": side.short + ":" }, outcome, check?.score == null ? null : h("span.muted", { "data-v": check.score }, " " + fixed(check.score, 2) + " of 1"),
    check?.evidence ? h("span.ev", FOREIGN, check.evidence) : null,
    check?.spans_more ? h("span.ev", `and ${counted(check.spans_more, "more match", "more matches")}`) : null,
    check?.judge ? judgeVerdict(check.judge) : null);
}

const REASONING_LIMIT = 600;

function judgeVerdict(judge) {
  const facts = [judge.model, judge.panel, judge.verdict, judge.score != null && "score " + fixed(judge.score, 2), judge.threshold != null && "threshold " + fixed(judge.threshold, 2)];
  const reasoning = h("span.ev", FOREIGN), text = judge.reasoning || "";
  const show = (all) => {
    replace(reasoning, all ? text : text.slice(0, REASONING_LIMIT), !all && text.length > REASONING_LIMIT ? ["… ", h("button.btn.sm", { click: () => show(true) }, "Show all")] : null);
  };
  show(false);
  printable.push(() => show(true));
  return [h("span.ev", "Judge: ", h("bdi", facts.filter(Boolean).join(", "))), reasoning,
    judge.dimensions?.length ? h("table.small", judge.dimensions.map(([name, score]) => h("tr", h("th", { scope: "row" }, name), h("td.num", score == null ? missing() : fixed(score, 2))))) : null];
}

// ---- Trace: both arms on one time axis
const KINDS = { skill_load: "skill loaded", file_read: "read", file_write: "write", command: "command", message: "message", other: "other" };
const kindMark = (kind) => svg("svg", { width: 10, height: 10, "aria-hidden": "true" }, svg("rect", { class: "k-" + kind, width: 10, height: 10, rx: 2 }));
const kindOf = (event) => (Object.hasOwn(KINDS, event.kind) ? event.kind : "other");

function trace(sidesShown) {
  const traced = sidesShown.filter(({ run }) => run?.trace?.length);
  const timed = traced.length > 0 && traced.every(({ run }) => run.trace.some((event) => event.at != null));
  const end = (run) => (timed ? Math.max(run.elapsed_ms || 0, ...run.trace.map((event) => (event.at || 0) + (event.ms || 0))) : run.trace.length);
  const longest = Math.max(1, ...traced.map(({ run }) => end(run))), kinds = new Set(traced.flatMap(({ run }) => run.trace.map(kindOf)));
  const bars = (side) => {
    let at = 0;
    return svg("svg", { width: "100%", height: 20, role: "img", "aria-label": `${side.name}: ` + [...new Set(side.run.trace.map(kindOf))].map((kind) => KINDS[kind]).join(", ") + `; ${counted(side.run.trace.length, "event")}` },
      svg("line.ax", { x1: 0, x2: "100%", y1: 10, y2: 10 }),
      side.run.trace.map((event, position) => {
        at = timed ? event.at ?? at : position;
        const width = Math.max(0.6, ((timed ? event.ms || 0 : 1) / longest) * 100 - 0.3), x = Math.min(99.4, (at / longest) * 100);
        if (timed) at += event.ms || 0;
        return svg("rect", { class: "k-" + kindOf(event), x: x.toFixed(2) + "%", width: Math.min(width, 100 - x).toFixed(2) + "%", y: 3, height: 14, rx: 2 }, svg("title", `${KINDS[kindOf(event)]}: ${event.label}`));
      }));
  };
  const lane = (side) => h("div.lane", h("span", side.short), side.run?.trace?.length ? [bars(side), h("span.num", timed ? time(end(side.run)) : counted(side.run.trace.length, "event"))]
    : h("span.muted", noTrace(side)));
  const axis = timed ? h("div.lane.axis", { "aria-hidden": "true" }, h("span"), h("div", [0, longest / 2, longest].map((at) => h("span", at ? time(at) : "0"))), h("span")) : null;
  // the outputs of tools that are in the document, to be drawn again
  const outputs = [], hasColours = traced.some(({ run }) => run.trace.some(({ detail }) => SGR.test(detail || "")));
  const toggle = hasColours && button("colours", "Colours", colours, () => {
    colours = !colours;
    toggle.setAttribute("aria-pressed", String(colours));
    for (const draw of outputs) draw();
  }, "btn sm");
  return block("Trace", traced.length && !timed ? "The trace has no times; bars show order." : null, h("div.tl", sidesShown.map(lane), axis,
    kinds.size ? h("div.legend", Object.keys(KINDS).filter((kind) => kinds.has(kind)).map((kind) => h("span", kindMark(kind), KINDS[kind]))) : null,
    h("div.calls", toggle, traced.map((side) => calls(side, outputs)))));
}

const noTrace = ({ run, absent, reason }) => (absent ? reason : run?.trace && !run.trace.length ? "The trace is empty." : `No trace was recorded${run?.trace_reason ? ": " + run.trace_reason.replace(/\.$/, "") : ""}.`);

// The list of a long trace is built when it is opened.
function calls({ name, run }, outputs) {
  const output = (text) => {
    const box = h("pre", FOREIGN), draw = () => replace(box, colours ? coloured(text) : text);
    outputs.push(draw);
    draw();
    return box;
  };
  const events = h("ul"), details = h("details", { toggle: () => {
    if (!details.open || events.firstChild) return;
    events.append(...run.trace.map((event) => h("li", kindMark(kindOf(event)), h("span.muted", KINDS[kindOf(event)]),
      event.detail ? h("details", h("summary", h("code", event.label)), output(event.detail)) : h("code", event.label),
      h("span.num.muted", event.ok === false ? h("span.no", "failed ") : null, event.ms == null ? "" : time(event.ms)))));
    if (run.trace_left_out) events.append(h("li.muted", h("span"), h("span"), `${counted(run.trace_left_out, "event")} between are not in this page.`));
  } }, h("summary", `${name}: ${counted(run.trace.length, "event")}`), events);
  return details;
}

// ---- Telemetry and files
const UNITS = {
  ms: [time, timeDifference], tokens: [tokens, tokenDifference], count: [count, tokenDifference],
  money: [money, moneyDifference], yes_no: [(value) => (value ? "yes" : "no")],
};

function telemetry([left, right]) {
  const rows = new Map();
  for (const [side, { run }] of [left, right].entries()) for (const row of run?.telemetry || []) rows.set(row.label, Object.assign(rows.get(row.label) || [], { [side]: row }));
  if (!rows.size) return block("Telemetry", null, h("p.muted", "Nothing was measured for these runs."));
  const cell = (row) => h("td.num", row?.value == null ? missing(row?.reason) : h("span", { "data-v": row.value }, UNITS[row.unit][0](row.value, row.currency)));
  const difference = (a, b) => {
    if (a?.value == null || b?.value == null) return missing(a?.value == null ? left.name + ": not measured" : right.name + ": not measured");
    if (a.unit === "yes_no") return a.value === b.value ? "the same" : "different";
    return a.currency === b.currency ? UNITS[a.unit][1](a.value - b.value, a.currency) : missing("different currencies", "does not apply");
  };
  const sources = (pair) => [...new Set(pair.map((row) => row?.source).filter(Boolean))].join(" / ");
  return block("Telemetry", null, scroller("div.scroll", "Telemetry", null, h("table",
    h("thead", h("tr", h("th", { scope: "col" }, "Measure"), [left.short, right.short, "Difference"].map((name) => h("th.num", { scope: "col" }, name)))),
    h("tbody", [...rows].map(([label, pair]) => h("tr", h("th", { scope: "row", class: "rh" }, label, h("span.ev", sources([pair[0], pair[1]]))), cell(pair[0]), cell(pair[1]),
      h("td.num", difference(pair[0], pair[1]))))))));
}

const IMAGE = /^data:image\/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=]+$/, RELATIVE = /^(?!\/)[\w.~%/-]+$/;
const CSV_ROWS = 50, CSV_COLUMNS = 12;

function csvRows(text) {
  const rows = [[]];
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    rows.at(-1).push(quoted == null ? bare : quoted.replace(/""/g, '"'));
    if (end !== ",") rows.push([]);
    if (rows.length > CSV_ROWS) break;
  }
  return rows.filter((row) => row.length > 1 || row[0]);
}

function fileEntry(item, run, file) {
  const path = h("code", file.path);
  const name = RELATIVE.test(file.href || "") ? h("a", { href: file.href }, path) : path;
  const row = (content) => h("li", h("div", name, content), bytesOf(file));
  if (file.kind === "image" && IMAGE.test(file.data_uri || "")) {
    const picture = h("button.picture", { "aria-label": "Enlarge " + file.path, "aria-pressed": "false", click: () => picture.setAttribute("aria-pressed", String(picture.classList.toggle("large"))) }, h("img", { src: file.data_uri, alt: file.path }));
    return row(picture);
  }
  if (file.text == null) return row();
  const entry = textAt(item, file.text), details = h("details", { toggle: () => {
    if (details.childElementCount > 1) return;
    details.append(...textNotes(entry, fullPath({ run }, file.path)), /\.csv$/i.test(file.path)
      ? scroller("div.scroll", file.path, null, h("table.small", csvRows(entry.text).map((cells) => h("tr", cells.slice(0, CSV_COLUMNS).map((cell) => h("td", FOREIGN, cell))))))
      : textBox(scroller("div.out.raw", file.path, FOREIGN), entry, { show: "raw" }));
  } }, h("summary.small", "Show", h("span.vh", " " + file.path)));
  return row(details);
}

function files(item, sidesShown) {
  const list = ({ name, run, absent, same }) => (absent || same || !run ? null : [h("h3.small", name), run.files?.length
    ? h("ul.files", run.files.map((file) => fileEntry(item, run, file)),
      run.files_more ? h("li.muted", h("span", `And ${counted(run.files_more, "more file")} in `, h("code", run.dir || "the folder of the run"))) : null)
    : h("p.muted", "No files were saved.")]);
  return block("Files", null, sidesShown.map(list));
}

function runBlocks(item, data) {
  if (!data) {
    return [runMatrix(item), h("p.why.warn", index.runs_given ? `The data of this case cannot be read (part ${item.chunk + 1}). Render the page again.`
      : "Answers are not in this page. Render it again with --runs."), feedbackBlock(item, data)];
  }
  const both = sides(item, data);
  return [runMatrix(item), answers(item, both), checks(item, data, both), trace(both), h("div.split", telemetry(both), files(item, both)), feedbackBlock(item, data)];
}
