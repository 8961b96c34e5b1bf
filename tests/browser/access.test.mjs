// Checks 17 to 22 and 25: contrast, axe, narrow layout, targets, print, missing values, direction.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { open, startBrowser, unfold, visit } from "./browser.mjs";
import { PAGES, pagePath, readIslands, variantPath } from "./pages.mjs";

const AXE = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
let browser;
before(async () => { browser = await startBrowser(); });
after(() => browser.close());

function viewsOf(name) {
  const { index } = readIslands(pagePath(name)), marked = index.cases.find((item) => item.runs.length) || index.cases[0], id = encodeURIComponent(marked.id);
  return { overview: "#overview", list: "#cases", rendered: `#case=${id}&a=1`, raw: `#case=${id}&a=1&view=raw`, difference: `#case=${id}&view=diff`, nothing: "#cases&q=no%20such%20case", unknown: "#case=unknown" };
}

for (const name of PAGES.filter((page) => page !== "big")) for (const theme of ["light", "dark"]) for (const width of [1280, 420]) {
  test(`17, 18 ${name} ${theme} at ${width}: axe finds nothing, contrast of all text is at least 4.5`, async () => {
    const { page } = await open(browser, name, { theme, width });
    await page.evaluate(AXE);
    for (const [view, hash] of Object.entries(viewsOf(name))) {
      await visit(page, hash);
      await unfold(page);
      await page.evaluate(() => scrollTo(0, 0));
      const { violations, contrast } = await page.evaluate(async () => {
        const result = await axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], rules: { "color-contrast": { enabled: true } } });
        return { violations: result.violations.map((found) => `${found.id}: ${found.nodes.slice(0, 3).map((node) => node.html.slice(0, 120) + " | " + node.any.map((check) => check.message).join("; ")).join(" || ")}`), contrast: result.passes.find((rule) => rule.id === "color-contrast")?.nodes.length || 0 };
      });
      assert.deepEqual(violations, [], view);
      assert.ok(contrast > 3, `${view}: contrast was computed for ${contrast} texts`);
    }
    await page.context().close();
  });
}

test("17 the button changes the theme and it is remembered; a chosen theme wins over the system", async () => {
  const { page } = await open(browser, "demo", { theme: "dark" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await ground(), "rgb(19, 20, 22)");
  await page.locator("#theme").click();
  assert.equal(await ground(), "rgb(246, 246, 243)");
  await page.reload();
  assert.equal(await ground(), "rgb(246, 246, 243)");
  await page.locator("#theme").click();
  assert.equal(await ground(), "rgb(19, 20, 22)");
  await page.context().close();
});

for (const name of PAGES) for (const width of [320, 420, 721]) {
  test(`19 ${name} at ${width} px: no sideways scrolling of the page`, async () => {
    const { page } = await open(browser, name, { width, height: 640 });
    for (const [view, hash] of Object.entries(viewsOf(name))) {
      await visit(page, hash);
      await unfold(page);
      const { wide, widest } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, widest: [...document.querySelectorAll("main *")].filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !element.closest(".out, .scroll, .runs, .vh, svg")).slice(0, 3).map((element) => element.outerHTML.slice(0, 100)) }));
      assert.ok(wide <= width, `${view}: ${wide} px ${widest}`);
    }
    await page.context().close();
  });
}

test("19 text spacing of readers and 200% zoom: nothing sideways, nothing cut in controls", async () => {
  for (const [name, width] of [["demo", 1280], ["demo", 640], ["rtl-cjk", 420]]) {
    const { page } = await open(browser, name, { width, height: 640 });
    await page.evaluate(() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync("*{line-height:1.5!important;letter-spacing:.12em!important;word-spacing:.16em!important}p{margin-bottom:2em!important}");
      document.adoptedStyleSheets = [sheet];
    });
    for (const [view, hash] of Object.entries(viewsOf(name))) {
      await visit(page, hash);
      const found = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, cut: [...document.querySelectorAll("main button, main .btn, .tabs a, h1, h2, h3")].filter((element) => element.checkVisibility() && !element.closest(".vh") && !element.classList.contains("vh") && (element.scrollHeight > element.clientHeight + 2 && getComputedStyle(element).overflowY !== "visible")).map((element) => element.outerHTML.slice(0, 90)) }));
      assert.ok(found.wide <= width, `${name} ${width} ${view}: ${found.wide}`);
      assert.deepEqual(found.cut, []);
    }
    await page.context().close();
  }
});

test("reduced motion: no transition; forced colours: what is chosen is outlined", async () => {
  const { page } = await open(browser, "demo", { hash: "#cases" });
  const moving = () => page.evaluate(() => [...document.querySelectorAll("*")].filter((element) => parseFloat(getComputedStyle(element).transitionDuration) > 0).length);
  await page.emulateMedia({ reducedMotion: "no-preference" });
  assert.ok(await moving() > 0);
  await page.emulateMedia({ reducedMotion: "reduce", forcedColors: "active" });
  assert.equal(await moving(), 0);
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector(".chip[aria-pressed=true]")).outlineStyle), "solid");
  await page.context().close();
});

test("20 controls are 24 by 24 px, or have the room of it around them", async () => {
  for (const name of ["demo", "sparse", "hostile", "rtl-cjk"]) for (const width of [1280, 420]) {
    const { page } = await open(browser, name, { width });
    for (const [view, hash] of Object.entries(viewsOf(name))) {
      await visit(page, hash);
      const small = await page.evaluate(() => {
        const targets = [...document.querySelectorAll("a[href], button, input, select, textarea, summary")].filter((element) => element.checkVisibility() && !element.closest("dialog") && !element.classList.contains("skip"));
        const boxes = targets.map((element) => (element.closest("label") || element).getBoundingClientRect());
        // 2.5.8: a circle of 24 px on the middle of a small target meets no other target and no circle of one
        return targets.filter((element, i) => {
          // marks of a chart: every case is also a link in a list of the page
          const box = boxes[i], inText = element.tagName.toLowerCase() === "a" && element.parentElement.matches("p, span, li, svg");
          if (inText || box.width >= 23.5 && box.height >= 23.5) return false;
          const x = box.left + box.width / 2, y = box.top + box.height / 2;
          return boxes.some((other, j) => j !== i && !targets[j].contains(element) && !element.contains(targets[j]) && Math.hypot(Math.max(other.left - x, 0, x - other.right), Math.max(other.top - y, 0, y - other.bottom)) < 12);
        }).map((element) => element.outerHTML.slice(0, 120));
      });
      assert.deepEqual(small, [], `${name} ${width} ${view}`);
    }
    await page.context().close();
  }
});

test("names: headings without their hints, rows with headers, controls that can be told apart", async () => {
  const { page } = await open(browser, variantPath("demo", () => {}), { hash: "#case=bom-and-semicolon" });
  assert.deepEqual(await page.locator("#case h2").allInnerTexts(), ["Prompt", "Runs", "Answers", "Checks", "Trace", "Telemetry", "Files", "Your verdict"]);
  assert.equal(await page.getByRole("table", { name: "Checks" }).getByRole("rowheader", { name: /^row count is stated/ }).count(), 1);
  assert.equal(await page.getByRole("navigation", { name: "Cases" }).getByRole("link", { name: "hebrew-headers −23 pp", exact: true }).count(), 1);
  assert.equal(await page.getByRole("radio").and(page.getByLabel("hard to say")).count(), 1);
  assert.equal(await page.getByRole("group", { name: "The answer with the skill is" }).getByRole("radio").count(), 3);
  assert.equal(await page.getByRole("button", { name: "Enlarge outputs/plot.png" }).count(), 2);
  const folded = await page.locator("#case .files summary").evaluateAll((all) => all.map((summary) => summary.textContent));
  assert.deepEqual(folded, ["Show outputs/clean.csv", "Show outputs/clean.csv"]);
  const nameless = await page.evaluate(() => [...document.querySelectorAll("#case :is(button, a, select, textarea, input, [role=img], [role=group], nav, section[aria-label])")]
    .filter((element) => !(element.getAttribute("aria-label") || element.textContent.trim() || element.labels?.length || element.querySelector("[alt]"))).map((element) => element.outerHTML.slice(0, 90)));
  assert.deepEqual(nameless, []);
  await visit(page, "#cases");
  assert.equal(await page.getByRole("table", { name: "Cases" }).getByRole("rowheader").count(), 24);
  await page.context().close();
});

test("21 print: light, without bars and forms, the answers as they are embedded", async () => {
  const path = variantPath("demo", () => {}), { index, detail, texts } = readIslands(path), item = index.cases.find(({ id }) => id === "two-million-rows");
  const run = detail(item.id).runs.find((other) => other.arm === 0), text = texts(item.id)[run.answer[0].text].text;
  const { page } = await open(browser, path, { theme: "dark", hash: `#case=${encodeURIComponent(item.id)}&view=raw&m=${run.model + 1}&r=${run.rep}` });
  await page.evaluate(() => { document.documentElement.dataset.theme = "dark"; });
  await page.emulateMedia({ media: "print", colorScheme: "light" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const printed = await page.evaluate(() => ({ ground: getComputedStyle(document.body).backgroundColor, color: getComputedStyle(document.body).color,
    hidden: [".top", ".rail", ".crumb", ".feedback", ".switches"].filter((selector) => document.querySelector("#case " + selector)?.checkVisibility() || document.querySelector(selector)?.checkVisibility()),
    buttons: [...document.querySelectorAll("main .btn")].filter((button) => button.checkVisibility()).length,
    height: getComputedStyle(document.querySelector("#case .out")).maxHeight, lines: document.querySelector("#case .out").querySelectorAll(".ln").length, other: document.querySelector("#overview").checkVisibility() }));
  assert.deepEqual(printed.hidden, []);
  assert.equal(printed.buttons, 0);
  assert.equal(printed.ground, "rgb(255, 255, 255)");
  assert.equal(printed.color, "rgb(0, 0, 0)");
  assert.equal(printed.height, "none");
  assert.equal(printed.lines, text.replace(/\n$/, "").split("\n").length);
  assert.equal(printed.other, false);
  await page.context().close();
});

test("22 sparse: what is missing is said in words", async () => {
  const { index, detail } = readIslands(pagePath("sparse"));
  const { page } = await open(browser, "sparse", { hash: "#cases" });
  for (const hash of ["#cases", ...index.cases.flatMap(({ id }) => [`#case=${encodeURIComponent(id)}`, `#case=${encodeURIComponent(id)}&view=diff`])]) {
    await visit(page, hash);
    await unfold(page);
    const found = await page.evaluate(() => {
      const view = document.querySelector("#cases:not([hidden]), #case:not([hidden])");
      return { text: view.innerText, empty: [...view.querySelectorAll("td:not(.fl)")].filter((cell) => !cell.textContent.trim() && !cell.querySelector("svg[aria-label]")).map((cell) => cell.parentElement.innerText), attributes: [...view.querySelectorAll("[title], [aria-label]")].flatMap((element) => ["title", "aria-label"].map((name) => element.getAttribute(name) || "")).join("\n") };
    });
    assert.doesNotMatch(found.text, /\b(null|NaN|undefined|N\/A|Infinity|\[object)/, hash);
    assert.doesNotMatch(found.attributes, /\b(null|NaN|undefined|Infinity|\[object)/, hash);
    assert.deepEqual(found.empty, [], hash);
  }
  await visit(page, "#cases");
  for (const item of index.cases) {
    const row = await page.evaluate((id) => [...[...document.querySelectorAll("#cases tbody tr")].find((tr) => tr.querySelector("bdi").textContent === id).cells].map((cell) => [cell.innerText.trim(), cell.querySelector("[title]")?.title, cell.querySelector("svg")?.getAttribute("aria-label")]), item.id);
    const [, without, withSkill, lift, graphic, cost] = row;
    if (item.without == null) assert.deepEqual(without.slice(0, 2), ["not measured", item.lift_reason]);
    if (item.with == null) assert.equal(withSkill[0], "not measured");
    if (item.lift == null) assert.deepEqual([lift[0], graphic[0]], ["not measured", "not measured"]);
    else if (!item.ci) assert.match(graphic[2], /, no interval$/);
    if (!item.cost) assert.deepEqual(cost.slice(0, 2), ["not measured", item.cost_reason]);
  }
  const bare = index.cases.find(({ id }) => detail(id).runs.some((run) => run.telemetry?.some((row) => row.value == null)));
  await visit(page, "#case=" + encodeURIComponent(bare.id));
  const telemetry = await page.evaluate(() => [...document.querySelectorAll("#case .scroll tbody tr")].map((row) => [...row.cells].map((cell) => cell.innerText.trim())));
  const cost = telemetry.find((row) => row[0].startsWith("Cost"));
  assert.deepEqual(cost.slice(1), ["not measured", "not measured", "not measured"]);
  await page.context().close();
});

test("22 sparse: no trace times, no answers, no model name", async () => {
  const { index, detail } = readIslands(pagePath("sparse"));
  const untimed = index.cases.find(({ id }) => detail(id).runs.some((run) => run.trace?.length && run.trace.every((event) => event.at == null)));
  const { page } = await open(browser, "sparse", { hash: "#case=" + encodeURIComponent(untimed.id) });
  const text = await page.locator("#case").innerText();
  assert.match(text, /The trace has no times; bars show order\./);
  assert.match(text, /No trace was recorded/);
  assert.match(text, /No answer was saved for this run\./);
  if (index.models[0] === "") assert.match(text, /no model named/);
  const empty = index.cases.find(({ id }) => !detail(id).checks.length);
  await visit(page, "#case=" + encodeURIComponent(empty.id));
  assert.match(await page.locator("#case").innerText(), /This case has no checks\./);
  await page.context().close();
});

test("25 rtl-cjk: Hebrew starts at the right, Latin at the left, CJK stays inside", async () => {
  const { index } = readIslands(pagePath("rtl-cjk"));
  let hebrew = 0, latin = 0;
  for (const view of ["", "&view=raw"]) for (const { id } of index.cases) {
    const { page } = await open(browser, "rtl-cjk", { hash: "#case=" + encodeURIComponent(id) + view, width: 420 });
    const found = await page.evaluate(() => {
      const lines = [...document.querySelectorAll("#case .out p, #case .out .ln > div, #case .out li")].filter((line) => line.textContent.trim()).map((line) => {
        const range = document.createRange(), box = line.getBoundingClientRect();
        range.selectNodeContents(line);
        const [first] = range.getClientRects();
        return { text: line.textContent, left: first.left - box.left, right: box.right - Math.max(...[...range.getClientRects()].filter((rect) => Math.abs(rect.top - first.top) < 4).map((rect) => rect.right)) };
      });
      return { lines, wide: [...document.querySelectorAll("#case .out")].every((box) => box.scrollWidth <= box.clientWidth) };
    });
    assert.ok(found.wide, id);
    for (const line of found.lines) {
      const [letter] = line.text.match(/\p{L}/u) || [""];
      if (/\p{Script=Hebrew}|\p{Script=Arabic}/u.test(letter)) {
        hebrew++;
        assert.ok(line.right < 4, `${line.text}: ${line.right} px from the right`);
      } else if (/\p{Script=Latin}/u.test(letter)) {
        latin++;
        assert.ok(line.left < 4, `${line.text}: ${line.left} px from the left`);
      }
    }
    await page.context().close();
  }
  assert.ok(hebrew >= 4 && latin >= 4, `${hebrew} and ${latin} lines`);
});
