// Checks 24 and 26, and what a case shows of its runs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { open, settles, startBrowser, visit } from "./browser.mjs";
import { PAGES, pagePath, readIslands, variantPath } from "./pages.mjs";

const AXE = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
let browser;
before(async () => { browser = await startBrowser(); });
after(() => browser.close());

// The strong marks of one answer, joined where they touch, with the text that they hold.
const strongMarks = (page, side) => page.evaluate((position) => {
  const marks = [...document.querySelectorAll("#case .arm")[position].querySelectorAll("mark.on")].map((mark) => [Number(mark.dataset.from), Number(mark.dataset.to), mark.textContent]);
  const joined = [];
  for (const [from, to, text] of marks.sort((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last && last[1] === from) { last[1] = to; last[2] += text; } else joined.push([from, to, text]);
  }
  return joined;
}, side);

// Spans that touch or overlap are one mark; the end of a line is not marked.
function joinedSpans(spans, text) {
  const joined = [];
  for (const [from, to] of [...spans].sort((a, b) => a[0] - b[0])) {
    if (joined.length && from <= joined.at(-1)[1]) joined.at(-1)[1] = Math.max(joined.at(-1)[1], to);
    else joined.push([from, to]);
  }
  return joined.flatMap(([from, to]) => [...text.slice(from, to).matchAll(/[^\r\n]+/g)].map((line) => [from + line.index, from + line.index + line[0].length, line[0]]));
}
// Rendered text lacks the signs of Markdown.
const lettersOf = (marks) => marks.map(([, , text]) => text.replace(/^\s*(\d+[.)]|[-*+]|#+)\s/, "").replace(/[^\p{L}\p{N}]/gu, "")).join("");

for (const name of ["demo", "rtl-cjk"]) {
  test(`24 ${name}: a chosen check marks exactly its spans in both answers, rendered and raw`, async () => {
    const { index, detail, texts } = readIslands(pagePath(name));
    let spans = 0, afterWide = 0;
    const { page } = await open(browser, name);
    for (const item of index.cases) {
      const data = detail(item.id), model = item.runs[0][1], rep = item.runs[0][2];
      const runs = [0, 1].map((arm) => data.runs.find((run) => run.arm === arm && run.model === model && run.rep === rep));
      for (let check = 0; check < data.checks.length; check++) {
        const wanted = runs.map((run) => {
          if (!run?.answer || run.answer.length !== 1 || texts(item.id)[run.answer[0].text]?.json) return null;
          const { text } = texts(item.id)[run.answer[0].text];
          return joinedSpans((run.checks?.[check]?.spans || []).filter(([number]) => number === run.answer[0].text).map(([, from, to]) => [from, to]), text);
        });
        if (!wanted.some((marks) => marks?.length)) continue;
        for (const view of ["raw", "md"]) {
          await visit(page, `#case=${encodeURIComponent(item.id)}&m=${model + 1}&r=${rep}&a=${check + 1}&view=${view}`);
          for (const side of [0, 1]) {
            if (!wanted[side]) continue;
            const marks = await strongMarks(page, side), where = `${item.id} check ${check + 1} ${view} side ${side}`;
            if (view === "raw") assert.deepEqual(marks, wanted[side], where);
            else {
              assert.equal(lettersOf(marks), lettersOf(wanted[side]), where);
              assert.ok(marks.every(([from, to]) => wanted[side].some(([start, end]) => start <= from && to <= end)), where);
            }
            spans += wanted[side].length;
            if (runs[side]) afterWide += wanted[side].filter(([from]) => /[^\u0000-\uffff]|[\u3040-\u9fff\u0590-\u05ff]/u.test(texts(item.id)[runs[side].answer[0].text].text.slice(0, from))).length;
          }
        }
      }
    }
    assert.ok(spans >= 4, `${spans} spans`);
    if (name === "rtl-cjk") assert.ok(afterWide >= 4, `${afterWide} spans after wide characters`);
    await page.context().close();
  });
}

test("24 overlapping spans: the chosen check is marked whole; a press marks, scrolls and puts its number into the address", async () => {
  const path = variantPath("rtl-cjk", ({ chunks: [chunk] }) => {
    const data = chunk.cases["hebrew-headers"], text = data.runs[0].answer[0].text, source = "🧮 head\n" + "filler\n".repeat(60) + "the 1,204 rows stay 👩‍🚀 here\n", at = source.indexOf("1,204");
    chunk.texts[text] = { bytes: source.length, text: source, cuts: [] };
    data.checks = [{ name: "number", type: "regex", severity: "gate" }, { name: "rows", type: "regex", severity: "soft" }];
    for (const run of data.runs) run.checks = [{ outcome: "pass", evidence: "", spans: [[text, at, at + 5]] }, { outcome: "pass", evidence: "", spans: [[text, at - 4, at + 10], [text, at + 15, source.indexOf(" here")]] }];
  });
  for (const view of ["raw", "md"]) {
    const { page } = await open(browser, path, { hash: "#case=hebrew-headers&view=" + view, height: 500 });
    assert.equal(await page.locator("mark.on").count(), 0);
    assert.ok(await page.locator("mark").count() >= 4, "matches are marked before one is chosen");
    await page.getByRole("button", { name: "rows", exact: true }).click();
    assert.match(await page.evaluate(() => location.hash), /&a=2/);
    const source = "🧮 head\n" + "filler\n".repeat(60) + "the 1,204 rows stay 👩‍🚀 here\n", at = source.indexOf("1,204");
    const wanted = [[at - 4, at + 10, "the 1,204 rows"], [at + 15, source.indexOf(" here"), "👩‍🚀"]].map(([from, to, text]) => [from, to, text]);
    const marks = await strongMarks(page, 0);
    assert.deepEqual(marks.map(([from, to]) => [from, to]), wanted.map(([from, to]) => [from, to]));
    assert.equal(marks[0][2], wanted[0][2]);
    const inView = await page.evaluate(() => [...document.querySelectorAll("#case .out")].every((box) => { const mark = box.querySelector("mark.on").getBoundingClientRect(), frame = box.getBoundingClientRect(); return mark.top >= frame.top && mark.bottom <= frame.bottom; }));
    assert.ok(inView, "both answers are scrolled to the first mark");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "rows");
    await page.getByRole("button", { name: "rows", exact: true }).click();
    assert.equal(await page.locator("mark.on").count(), 0, "pressed again: nothing is chosen");
    await page.context().close();
  }
});

test("26 a text of 2 MB: both sizes and the path, head and tail, at most 400 lines", async () => {
  // whichever page holds it
  const holds = ({ index, detail, texts }) => index.cases.flatMap(({ id }) => detail(id).runs.map((run) => ({ id, run, entry: texts(id)[run.answer?.[0].text] }))).find(({ run, entry }) => run.arm === 0 && entry?.bytes > 1e6 && entry.cuts?.length);
  const name = PAGES.find((page) => holds(readIslands(pagePath(page))));
  assert.ok(name, "no page holds an answer of more than 1 MB");
  const { id, run, entry } = holds(readIslands(pagePath(name)));
  const left = entry.cuts.reduce((sum, [, bytes]) => sum + bytes, 0), lines = entry.text.replace(/\n$/, "").split("\n");
  const { page } = await open(browser, name, { hash: `#case=${encodeURIComponent(id)}&m=${run.model + 1}&r=${run.rep}&view=raw` });
  const box = page.locator("#case .out").first(), note = await page.locator("#case .alert.cut").first().innerText();
  const size = (bytes) => bytes >= 1e6 ? (bytes / 1e6).toPrecision(3) + "\u00a0MB" : (bytes / 1e3).toPrecision(3) + "\u00a0kB";
  assert.equal(note, `Truncated: ${size(entry.bytes - left)} of ${size(entry.bytes)} are in this page. Full file: ${run.dir}/${run.answer[0].path}`);
  const shown = await box.locator(".ln > div").allInnerTexts();
  assert.ok(shown.length <= 400 && shown.length >= 100, `${shown.length} lines`);
  assert.equal(shown[0], lines[0]);
  assert.equal(shown.at(-1), lines.at(-1));
  assert.ok((await box.innerText()).includes(`… ${size(left)} not in this page …`));
  await box.getByRole("button", { name: /^Show all [\d,]+ lines$/ }).click();
  assert.equal(await box.locator(".ln").count(), lines.length);
  assert.ok((await box.innerText()).includes(`… ${size(left)} not in this page …`));
  await page.context().close();
});

test("24 a chosen mark never hides behind the button that shows all lines", async () => {
  const source = Array.from({ length: 1000 }, (_, i) => `line ${i}\n`).join("");
  const path = variantPath("rtl-cjk", ({ chunks: [chunk] }) => {
    const data = chunk.cases["hebrew-headers"], text = data.runs[0].answer[0].text, at = source.indexOf("line 500\n");
    chunk.texts[text] = { bytes: source.length, text: source, cuts: [] };
    for (const run of data.runs) run.checks[0] = { outcome: "pass", evidence: "", spans: [[text, at, at + 8]] };
  });
  for (const view of ["raw", "md"]) {
    const { page } = await open(browser, path, { hash: "#case=hebrew-headers&view=" + view });
    assert.equal(await page.getByRole("button", { name: "Show all 1,000 lines" }).count(), 2);
    assert.equal(await page.locator("#case mark").count(), 0);
    await visit(page, "#case=hebrew-headers&a=1&view=" + view);
    assert.deepEqual(await page.locator("#case mark.on").allInnerTexts(), ["line 500", "line 500"]);
    await page.context().close();
  }
});

test("26 a line of more than 4,000 characters is cut, and its rest can be had; a mark in the rest opens it", async () => {
  const long = "word ".repeat(2000) + "needle end";
  const path = variantPath("rtl-cjk", ({ chunks: [chunk] }) => {
    const data = chunk.cases["hebrew-headers"], text = data.runs[0].answer[0].text;
    chunk.texts[text] = { bytes: long.length, text: long + "\nsecond\n", cuts: [] };
    data.runs[0].checks[0] = { outcome: "pass", evidence: "", spans: [[text, long.indexOf("needle"), long.indexOf("needle") + 6]] };
  });
  for (const view of ["raw", "md"]) {
    const { page } = await open(browser, path, { hash: "#case=hebrew-headers&view=" + view });
    const box = page.locator("#case .out").first();
    assert.ok((await box.innerText()).length < 4100);
    await box.getByRole("button", { name: "Show the rest of the line" }).click();
    assert.ok((await box.innerText()).includes("needle end"));
    await visit(page, "#case=hebrew-headers&a=1&view=" + view);
    assert.equal(await page.locator("#case .out").first().locator("mark.on").innerText(), "needle");
    await page.context().close();
  }
});

test("answers: rendered Markdown is nodes, links and images are text", async () => {
  const source = "# Title\n\nA **bold** and `code` line\nand one more.\n\n## Part\n1. one\n2. two\n   - inner\n\n| A | B |\n|---|:-:|\n| x \\| y | **z** |\n\n```js\nlet a = \"# no heading\";\n```\n\n[text](https://example.org) ![alt](p.png) <b>no tag</b>\n";
  const path = variantPath("rtl-cjk", ({ chunks: [chunk] }) => { chunk.texts[chunk.cases["hebrew-headers"].runs[0].answer[0].text] = { bytes: source.length, text: source, cuts: [] }; for (const run of chunk.cases["hebrew-headers"].runs) run.checks[0].spans = []; });
  const { page } = await open(browser, path, { hash: "#case=hebrew-headers" });
  const tree = await page.evaluate(() => [...document.querySelector("#case .out").children].map((element) => [element.tagName, element.textContent]));
  assert.deepEqual(tree, [["H4", "Title"], ["P", "A bold and code line\nand one more."], ["H5", "Part"], ["OL", "onetwoinner"], ["DIV", "ABx | yz"], ["PRE", "let a = \"# no heading\";\n"], ["P", "text (https://example.org) [image: alt] (p.png) <b>no tag</b>"]]);
  assert.deepEqual(await page.evaluate(() => ["b", "code", "th", "td", "a", "img"].map((tag) => document.querySelector("#case .out").querySelectorAll(tag).length)), [2, 1, 2, 2, 0, 0]);
  await page.context().close();
});

// What an answer looks like in the rendered view, as tags with their text; marks, if any, in square brackets.
async function rendered(source, needles = []) {
  const path = variantPath("rtl-cjk", ({ chunks: [chunk] }) => {
    const data = chunk.cases["hebrew-headers"], text = data.runs[0].answer[0].text;
    chunk.texts[text] = { bytes: source.length, text: source, cuts: [] };
    for (const run of data.runs) run.checks[0] = { outcome: "pass", evidence: "", spans: needles.map((needle) => [text, source.indexOf(needle), source.indexOf(needle) + needle.length]) };
  });
  const { page } = await open(browser, path, { hash: "#case=hebrew-headers&a=1" });
  const found = await page.evaluate(() => {
    const told = (node) => (node.nodeType === Node.TEXT_NODE ? node.data : node.tagName === "MARK" ? `[${node.textContent}]` : `<${node.tagName.toLowerCase()}${node.start > 1 ? " " + node.start : ""}>${[...node.childNodes].map(told).join("")}</>`);
    return [...document.querySelector("#case .out").childNodes].map(told);
  });
  const places = await page.evaluate(() => [...document.querySelector("#case .out").querySelectorAll("mark")].map(({ dataset }) => [Number(dataset.from), Number(dataset.to)]));
  for (const [from, to] of places) assert.ok(needles.some((needle) => from >= source.indexOf(needle) && to <= source.indexOf(needle) + needle.length), `${from} to ${to}`);
  await page.context().close();
  return found;
}

test("answers: rules, quotes, emphasis, struck text and escaped signs", async () => {
  assert.deepEqual(await rendered("one\n\n---\n* * *\n___\n\n> quoted **bold**\n> - item\nlazy\n>> inner\n\n*em* _i_ ~~gone~~ **b *c* d** \\*no\\*\n2*3*4, a * b * c, snake_case_name, __init__, *.md and *.txt\n"), [
    "<p>one</>", "<hr></>", "<hr></>", "<hr></>", "<blockquote><p>quoted <b>bold</></><ul><li>item\nlazy</></><blockquote><p>inner</></></>",
    "<p><em>em</> <i>i</> <del>gone</> <b>b <em>c</> d</> *no*\n2*3*4, a * b * c, snake_case_name, __init__, *.md and *.txt</>"]);
});

test("25 lists and quotes start where their first letter does", async () => {
  const source = "1. \u05d0\u05d7\u05ea\n2. two\n\n> \u05e6\u05d9\u05d8\u05d5\u05d8\n\n> quote\n";
  const path = variantPath("rtl-cjk", ({ chunks: [chunk] }) => {
    const [run] = chunk.cases["hebrew-headers"].runs;
    chunk.texts[run.answer[0].text] = { bytes: source.length, text: source, cuts: [] };
    run.checks[0].spans = [];
  });
  const { page } = await open(browser, path, { hash: "#case=hebrew-headers", width: 420 });
  assert.deepEqual(await page.locator("#case .out").first().locator("li, blockquote").evaluateAll((all) => all.map((element) => getComputedStyle(element).direction)), ["rtl", "ltr", "rtl", "ltr"]);
  await page.context().close();
});

test("answers: lists inside lists, with what belongs to an item, and the numbers they start with", async () => {
  assert.deepEqual(await rendered("3. three\n4. four\n   - inner\n     goes on\n     - deeper\n\n     second paragraph\n\n     ```sh\n     echo  x\n     ```\n\n5. five\n- other\n\n1. two blanks\n  - child\n    - its child\n2. tabs\n\t- child\n\t\t- its child\n\nafter\n"), [
    "<ol 3><li>three</><li>four<ul><li>inner\ngoes on<ul><li>deeper</></><p>second paragraph</><pre>echo  x\n</></></></><li>five</></>",
    "<ul><li>other</></>", "<ol><li>two blanks<ul><li>child<ul><li>its child</></></></></><li>tabs<ul><li>child<ul><li>its child</></></></></></>", "<p>after</>"]);
});

test("24 marks keep their places in lists, quotes and emphasis", async () => {
  assert.deepEqual(await rendered("🧮\n> - a **bold 1,204 rows** here\n\n1. x\n   - ~~old _way_~~ `code`\n", ["1,204 rows", "way", "code", "bold 1,2"]), [
    "<p>🧮</>", "<blockquote><ul><li>a <b>[bold ][1,2][04 rows]</> here</></></>", "<ol><li>x<ul><li><del>old <i>[way]</></> <code>[code]</></></></></>"]);
});

test("answers: lists and quotes without end stay shallow, and take no time", async () => {
  const [quotes, list] = [await rendered("> ".repeat(2000) + "end\n"), await rendered(Array.from({ length: 300 }, (_, i) => " ".repeat(i * 2) + "- x\n").join(""))];
  assert.equal(quotes[0].match(/<blockquote>/g).length, 8);
  assert.ok(quotes[0].includes("> > end"));
  assert.equal(list[0].match(/<ul>/g).length, 8);
  assert.equal(list[0].match(/x/g).length, 300);
});

test("answers: the end of a long text knows that it starts inside code", async () => {
  const source = "# Title\n" + "filler\n\n".repeat(100) + "```sh\n" + "# no heading\n".repeat(300) + "```\n# Part\n";
  const found = await rendered(source);
  assert.deepEqual(found.slice(-2).map((block) => block.slice(0, 23)), ["<pre># no heading\n# no ", "<h4>Part</>"]);
  assert.equal(found.filter((block) => block.startsWith("<pre>")).length, 2, "the head and the tail of it");
  assert.equal(found.filter((block) => block.startsWith("<h4>")).length, 2);
});

test("answers: JSON is on lines of its own when rendered, and as it was when raw", async () => {
  const source = '{"a":[1,{"b":12345678901234567890}],"empty":[],"text":"x{},: y"}';
  const path = variantPath("rtl-cjk", ({ chunks: [chunk] }) => {
    const data = chunk.cases["hebrew-headers"], text = data.runs[0].answer[0].text;
    chunk.texts[text] = { bytes: source.length, text: source, cuts: [], json: true };
    for (const run of data.runs) run.checks[0] = { outcome: "pass", evidence: "", spans: [[text, source.indexOf("123"), source.indexOf("123") + 20]] };
  });
  const { page } = await open(browser, path, { hash: "#case=hebrew-headers&a=1" });
  const lines = () => page.evaluate(() => [...document.querySelector("#case .out").querySelectorAll(".ln > div")].map((line) => line.textContent));
  assert.deepEqual(await lines(), ["{", '  "a": [', "    1,", "    {", '      "b": 12345678901234567890', "    }", "  ],", '  "empty": [],', '  "text": "x{},: y"', "}"]);
  assert.deepEqual((await strongMarks(page, 0))[0].slice(0, 2), [source.indexOf("123"), source.indexOf("123") + 20]);
  await visit(page, "#case=hebrew-headers&a=1&view=raw");
  assert.deepEqual(await lines(), [source]);
  await page.context().close();
});

test("answers: the difference by lines, between arms and between iterations", async () => {
  const old = "same 1\nsame 2\nold line\nsame 3\n" + Array.from({ length: 20 }, (_, i) => `equal ${i}\n`).join("") + "last old\n", now = old.replace("old line\n", "new line\nand one more\n").replace("last old", "last new");
  const path = variantPath("demo", ({ chunks: [chunk] }) => {
    const data = chunk.cases["bom-and-semicolon"], number = (text) => chunk.texts.push({ bytes: text.length, text, cuts: [] }) - 1, [a, b] = [number(old), number(now)];
    for (const run of data.runs) if (run.model === 0 && run.rep === 1) { run.answer = [{ path: "output.md", text: run.arm ? a : b }]; run.checks = run.checks.map((check) => ({ ...check, spans: [] })); if (!run.arm) run.previous.answer = [{ path: "output.md", text: b }]; }
  });
  const { page } = await open(browser, path, { hash: "#case=bom-and-semicolon&view=diff" });
  const rows = await page.evaluate(() => [...document.querySelector("#case .out").children].map((row) => [...row.children].map((cell) => cell.textContent).join("|") || row.textContent));
  assert.deepEqual(rows, ["1|1| |same 1", "2|2| |same 2", "3||−|removed: old line", "|3|+|added: new line", "|4|+|added: and one more", "4|5| |same 3", "5|6| |equal 0", "6|7| |equal 1", "… 15 equal lines …", "22|23| |equal 17", "23|24| |equal 18", "24|25| |equal 19", "25||−|removed: last old", "|26|+|added: last new"]);
  assert.match(await page.locator("#case .arm header").innerText(), /− only in: Without the skill\. \+ only in: With the skill\./);
  await visit(page, "#case=bom-and-semicolon&view=diff&cmp=prev");
  assert.match(await page.locator("#case .arm").innerText(), /Both texts are the same\./);
  await page.context().close();
});

test("answers: too many different lines are said, not compared", async () => {
  const path = variantPath("rtl-cjk", ({ chunks: [chunk] }) => {
    const data = chunk.cases["hebrew-headers"], number = (sign) => chunk.texts.push({ bytes: 20000, text: Array.from({ length: 3000 }, (_, i) => `${sign}${i}\n`).join(""), cuts: [] }) - 1;
    data.runs.forEach((run, i) => { run.answer = [{ path: "output.md", text: number("ab"[i]) }]; run.checks[0].spans = []; });
  });
  const { page } = await open(browser, path, { hash: "#case=hebrew-headers&view=diff" });
  assert.match(await page.locator("#case .arm").innerText(), /Too many lines differ to compare them: 3,000 and 3,000\./);
  await page.context().close();
});

test("answers: empty, binary, several files, not UTF-8, the same as before, no earlier run, no answers at all", async () => {
  const path = variantPath("demo", ({ chunks: [chunk] }) => {
    const run = chunk.cases["ragged-rows"].runs.find((other) => other.arm === 0);
    run.answer = [{ path: "output.md", text: chunk.texts.push({ bytes: 4, text: "a\ufffd", cuts: [], replaced: 3 }) - 1 }, { path: "empty.md", text: chunk.texts.push({ bytes: 0, text: "", cuts: [] }) - 1 }, { path: "data.zip", bytes: 1_200_000, binary: "application/zip" }];
  });
  const { page } = await open(browser, path, { hash: "#case=ragged-rows" });
  const column = page.locator("#case .arm").first();
  const text = await column.innerText();
  assert.match(text, /3 bytes were not UTF-8; they show as \ufffd\./);
  assert.match(text, /The answer is empty \(0 bytes\)\./);
  assert.match(text, /Not text: application\/zip, 1\.20\u00a0MB\.\s+ragged-rows\/[^ ]+\/data\.zip/);
  assert.deepEqual(await column.locator("h4").allInnerTexts(), ["output.md", "empty.md", "data.zip"]);
  await visit(page, "#case=already-clean&cmp=prev");
  assert.match(await page.locator("#case .arm").nth(1).innerText(), /The answer is the same in iteration-3\./);
  await visit(page, "#case=schema-drift&cmp=prev");
  assert.match(await page.locator("#case .arm").nth(1).innerText(), /iteration-3 has no run of this case\./);
  await page.context().close();
  const bare = variantPath("demo", ({ index: data }) => { data.runs_given = false; for (const item of data.cases) item.chunk = 99; });
  const other = await open(browser, bare, { hash: "#case=ragged-rows" });
  assert.match(await other.page.locator("#case").innerText(), /Answers are not in this page\. Render it again with --runs\./);
  await other.page.context().close();
});

test("a case: pass rates, lift, cost, reasons, position, prompt and the run matrix", async () => {
  const { page } = await open(browser, variantPath("demo", () => {}), { hash: "#case=formula-injection&f=eyes" });
  const text = (await page.locator("#case .case").innerText()).replaceAll("\u00a0", " ");
  assert.match(text, /1 of 7 · needs your eyes/);
  assert.match(text, /Pass rate 25% without, 50% with/);
  assert.match(text, /Lift \+25 pp \(95% interval −5 to \+55 pp, 6 pairs\)/);
  assert.match(text, /Extra cost \+\$0\.009/);
  assert.match(text, /A critical check failed in 3 of 6 runs with the skill\. A failed critical check fails the whole run\./);
  const cells = await page.locator("#case .runs button").allInnerTexts();
  assert.equal(cells.length, 6);
  assert.ok(cells.some((cell) => cell.includes("! veto")), cells.join(" / "));
  await visit(page, "#case=formula-injection&f=eyes&r=2");
  assert.match(await page.locator("#case .arm").first().innerText(), /Vetoed: critical check failed/);
  await visit(page, "#case=two-million-rows&m=2&r=2");
  assert.match(await page.locator("#case .runs").innerText(), /✕ timeout/);
  assert.match(await page.locator("#case .arm").nth(1).innerText(), /timed out after 300 s[^]*No answer was saved for this run\./);
  assert.match(await page.locator("#case .as").innerText(), /not graded/);
  await visit(page, "#case=leading-zeros");
  assert.equal(await page.locator("#case .prompt").first().locator(".ln").count(), 12);
  await page.getByRole("button", { name: "Show all 20 lines" }).click();
  assert.equal(await page.locator("#case .prompt").first().locator(".ln").count(), 20);
  await visit(page, "#case=excel-dates");
  assert.deepEqual(await page.locator("#case .case h3.small").allInnerTexts().then((all) => all.slice(0, 2)), ["Turn 1", "Turn 2"]);
  assert.match(await page.locator("#case .as").innerText(), /waiting for a judge/);
  await page.context().close();
});

test("checks: the ones that differ come first; judges say model, score, threshold and panel", async () => {
  const path = variantPath("rtl-cjk", ({ chunks: [chunk] }) => {
    const data = chunk.cases["hebrew-headers"], judge = { model: "judge-1", score: 0.42, threshold: 0.7, panel: "1 of 3 judges pass", reasoning: "r".repeat(601), dimensions: [["tone", 0.5]] };
    data.checks = [{ name: "same", type: "regex", severity: "gate" }, { name: "differs", type: "judge", severity: "soft" }, { name: "rest", type: "regex", severity: "critical" }];
    const [a, b] = data.runs;
    a.checks = [{ outcome: "pass", evidence: "", spans: [] }, { outcome: "fail", score: 0.42, evidence: "", spans: [], judge }, { outcome: "skipped", words: "skipped: needs same", evidence: "", spans: [] }];
    b.checks = [{ outcome: "pass", evidence: "", spans: [] }, { outcome: "undecided", evidence: "", spans: [] }, { outcome: "pending", evidence: "", spans: [], spans_more: 7 }];
  });
  const { page } = await open(browser, path, { hash: "#case=hebrew-headers" });
  assert.deepEqual(await page.locator("#case .as .nm").allInnerTexts(), ["differs", "rest", "same"]);
  const rows = await page.locator("#case .as > tbody > tr").allInnerTexts();
  assert.match(rows[0], /soft: not in the pass rate[^]*✕ fail 0\.42 of 1[^]*Judge: judge-1, 1 of 3 judges pass, score 0\.42, threshold 0\.70[^]*Show all[^]*tone\s+0\.50[^]*The judges disagree; no verdict/);
  assert.match(rows[1], /critical: fails the run[^]*skipped: needs same[^]*waiting for a judge[^]*and 7 more matches/);
  await page.getByRole("button", { name: "Show all" }).click();
  assert.ok((await page.locator("#case .as").innerText()).includes("r".repeat(601)));
  await page.context().close();
});

test("trace, telemetry and files", async () => {
  const path = variantPath("demo", () => {}), id = "bom-and-semicolon";
  const { page } = await open(browser, path, { hash: "#case=" + id });
  const lanes = await page.evaluate(() => [...document.querySelectorAll("#case .lane:not(.axis) svg")].map((lane) => [...lane.querySelectorAll("rect")].map((bar) => [bar.getAttribute("class"), parseFloat(bar.getAttribute("x")), parseFloat(bar.getAttribute("width"))])));
  assert.equal(lanes.length, 2);
  assert.equal(lanes[0][0][0], "k-skill_load");
  const ends = lanes.map((bars) => Math.max(...bars.map(([, x, width]) => x + width)));
  assert.ok(ends.some((end) => end > 98) && ends.some((end) => end < 98), `both arms share one axis: ${ends}`);
  assert.deepEqual((await page.locator("#case .legend").innerText()).split(/\s*\n\s*/)[0], "skill loaded");
  await page.locator("#case .calls > details > summary").first().click();
  const entries = page.locator("#case .calls > details").first().locator("li");
  // a list is filled in the event of its opening, and that comes after the press
  await settles(() => entries.count(), (number) => assert.equal(number, 5));
  await page.locator("#case .calls details details summary").first().click();
  assert.match(await page.locator("#case .calls pre").first().innerText(), /1204 rows compared/);
  await page.locator("#case .files details summary").first().click();
  const cells = page.locator("#case .files table").first().locator("tr").nth(2).locator("td");
  await settles(() => cells.allInnerTexts(), (found) => assert.deepEqual(found, ["2", 'say "hi"']));
  const picture = page.locator("#case .picture").first();
  assert.ok(await picture.locator("img").evaluate((image) => image.decode().then(() => image.naturalWidth > 0)), "the picture can be decoded");
  await picture.click();
  assert.equal(await picture.getAttribute("aria-pressed"), "true");
  assert.match(await page.locator("#case").innerText(), /And 14 more files in bom-and-semicolon\//);
  const telemetry = await page.evaluate(() => [...document.querySelectorAll("#case .scroll tbody tr")].map((row) => [...row.cells].map((cell) => cell.innerText.trim().replace(/\s*\n\s*/, " | "))));
  assert.deepEqual(telemetry.map((row) => row[0]), ["Time | clock of the runner", "Tokens | provider", "Cost | price table 2025-10", "Tool calls | trace", "Skill loaded | trace"]);
  assert.deepEqual(telemetry[3].slice(1), ["4", "2", "+2"]);
  assert.deepEqual(telemetry[4].slice(1), ["yes", "no", "different"]);
  await visit(page, "#case=header-only");
  assert.match(await page.locator("#case .tl").innerText(), /No trace was recorded: the agent wrote no events\./);
  await page.context().close();
});

test("trace: colours of tool output are classes, on request; other sequences stay labels", async () => {
  const path = variantPath("demo", ({ chunks: [chunk] }) => {
    for (const run of chunk.cases["bom-and-semicolon"].runs) for (const event of run.trace || []) if (event.detail) event.detail = "\u001b[1;31mred\u001b[22m thin\u001b[0m \u001b[38;5;46mgreen\u001b[38;2;255;255;0;44myellow on blue\u001b[39;49m\u001b[m \u001b[2Jplain \u001b[8mkept\u001b]0;t\u0007\u001b[<31mx\n";
  });
  for (const theme of ["light", "dark"]) {
    const { page, messages } = await open(browser, path, { hash: "#case=bom-and-semicolon", theme }), pre = page.locator("#case .calls pre").first();
    await page.locator("#case .calls > details > summary").first().click();
    await page.locator("#case .calls details details summary").first().click();
    const bare = "ESC[1;31mredESC[22m thinESC[0m ESC[38;5;46mgreenESC[38;2;255;255;0;44myellow on blueESC[39;49mESC[m ESC[2Jplain ESC[8mkeptESC]0;tBELESC[<31mx\n";
    assert.equal(await pre.textContent(), bare);
    const toggle = page.getByRole("button", { name: "Colours" });
    await toggle.click();
    assert.equal(await toggle.getAttribute("aria-pressed"), "true");
    assert.deepEqual(await pre.evaluate((box) => [...box.children].map((part) => [part.className, part.textContent])), [["s1 f1", "red"], ["f1", " thin"], ["", " "], ["f2", "green"], ["f3 k4", "yellow on blue"], ["", " ESC[2Jplain "], ["", "keptESC]0;tBELESC[<31mx\n"]]);
    const inks = await pre.evaluate((box) => [...box.children].map((part) => getComputedStyle(part).color));
    assert.equal(new Set([inks[0], inks[2], inks[3], inks[4]]).size, 4, `${inks}`);
    assert.equal(await pre.locator("[style]").count(), 0);
    await page.evaluate(AXE);
    const { violations } = await page.evaluate(() => axe.run(document.querySelector("#case .tl"), { runOnly: ["color-contrast"] }));
    assert.deepEqual(violations.map(({ nodes }) => nodes.map(({ html }) => html)), []);
    await page.keyboard.press("]");
    assert.equal(await page.getByRole("button", { name: "Colours" }).getAttribute("aria-pressed"), "true", "it stays for the next run");
    await page.getByRole("button", { name: "Colours" }).click();
    await page.keyboard.press("[");
    await page.locator("#case .calls > details > summary").first().click();
    await settles(() => pre.textContent(), (text) => assert.equal(text, bare));
    assert.deepEqual(messages, []);
    await page.context().close();
  }
  const { page } = await open(browser, variantPath("demo", () => {}), { hash: "#case=bom-and-semicolon" });
  assert.equal(await page.getByRole("button", { name: "Colours" }).count(), 0, "nothing to colour, no switch");
  await page.context().close();
});

test("other arms are rows of their own and can be compared", async () => {
  const { page } = await open(browser, variantPath("demo", () => {}), { hash: "#case=bom-and-semicolon" });
  assert.equal(await page.locator("#case .runs button").count(), 12);
  await page.locator("#case .runs .row").nth(2).locator("button").nth(1).click();
  assert.equal(await page.evaluate(() => location.hash), "#case=bom-and-semicolon&r=2&cmp=ablation%3Ano-verify");
  assert.deepEqual(await page.locator("#case .arm h3").allInnerTexts(), ["With the skill", "Without verify_cells.py"]);
  await page.context().close();
});
