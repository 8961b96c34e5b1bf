// Checks 10 to 14 and the search: the list of cases, small and with a thousand rows.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { loadavg } from "node:os";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { open, startBrowser, visit, workOf } from "./browser.mjs";
import { pagePath, readIslands } from "./pages.mjs";

let browser;
before(async () => { browser = await startBrowser(); });
after(() => browser.close());

const shownIds = (page) => page.evaluate(() => [...document.querySelectorAll("#cases tbody tr[data-position] a")].map((link) => new URLSearchParams(link.getAttribute("href").slice(1)).get("case")));

// The order of the list, worked out from the data.
function reference(cases, keys, direction) {
  const suite = new Map(cases.map((item, position) => [item.id, position]));
  return [...cases].sort((a, b) => {
    for (const key of keys) {
      const [x, y] = [key(a), key(b)];
      if (x == null && y == null) continue;
      if (x == null) return 1;
      if (y == null) return -1;
      if (x !== y) return (x < y ? -1 : 1) * direction;
    }
    return suite.get(a.id) - suite.get(b.id);
  }).map((item) => item.id);
}
const COLUMNS = {
  Case: [(item) => item.id], Without: [(item) => item.without], With: [(item) => item.with], Lift: [(item) => item.lift], "Extra cost": [(item) => item.cost?.delta], Flags: [(item) => item.queue ?? 9, (item) => item.lift],
};

for (const name of ["demo", "sparse"]) {
  test(`13 ${name}: each column sorts both ways, missing values last`, async () => {
    const { index } = readIslands(pagePath(name));
    const { page } = await open(browser, name, { hash: "#cases" });
    assert.deepEqual(await shownIds(page), reference(index.cases, COLUMNS.Flags, 1), "default order");
    for (const [column, keys] of Object.entries(COLUMNS)) {
      const header = page.locator("#cases thead th", { has: page.getByRole("button", { name: column, exact: true }) });
      const started = await header.getAttribute("aria-sort");
      if (!started) await header.locator("button").click();
      assert.deepEqual(await shownIds(page), reference(index.cases, keys, 1), column);
      assert.equal(await header.getAttribute("aria-sort"), "ascending");
      await header.locator("button").click();
      assert.deepEqual(await shownIds(page), reference(index.cases, keys, -1), column + " reversed");
      assert.equal(await header.getAttribute("aria-sort"), "descending");
      assert.equal(await page.locator("#cases [aria-sort]").count(), 1);
    }
    await page.context().close();
  });
}

test("13 missing values stay last when the order is reversed", async () => {
  const { index } = readIslands(pagePath("sparse"));
  const without = index.cases.filter((item) => item.lift == null).map((item) => item.id);
  assert.ok(without.length > 0 && without.length < index.cases.length);
  const { page } = await open(browser, "sparse", { hash: "#cases&s=lift" });
  for (const hash of ["#cases&s=lift", "#cases&s=lift&d=-1"]) {
    await visit(page, hash);
    assert.deepEqual((await shownIds(page)).slice(-without.length), without);
  }
  await page.context().close();
});

test("14 each chip shows as many rows as it says; the search survives; a chip toggles", async () => {
  const { page } = await open(browser, "demo", { hash: "#cases" });
  const names = ["All", "Needs your eyes", "Worse", "Better", "No change", "Blocked", "Unstable", "Not reviewed"];
  assert.deepEqual(await page.locator("#cases .chip").evaluateAll((chips) => chips.map((chip) => chip.firstChild.textContent)), names);
  for (const name of names) {
    const chip = page.locator("#cases .chip", { hasText: name });
    const number = Number((await chip.locator(".n").innerText()).replace(/,/g, ""));
    await chip.click();
    assert.equal((await shownIds(page)).length, number, name);
    assert.equal(await page.locator("#cases .chip[aria-pressed=true]").count(), 1);
    if (name === "All") continue;
    assert.equal(await chip.getAttribute("aria-pressed"), "true");
    await chip.click();
    assert.equal(await page.locator("#cases .chip", { hasText: "All" }).getAttribute("aria-pressed"), "true", "pressed again: All");
  }
  await page.locator("#search").fill("hard");
  const counts = await page.locator("#cases .chip .n").allInnerTexts();
  await page.locator("#cases .chip", { hasText: "Better" }).click();
  assert.equal(await page.locator("#search").inputValue(), "hard");
  assert.deepEqual(await page.locator("#cases .chip .n").allInnerTexts(), counts, "counts are over all cases");
  assert.equal(await page.evaluate(() => document.activeElement.textContent.startsWith("Better")), true, "focus stays on the chip");
  await page.context().close();
});

test("14 chips of the data: each filter holds what it says", async () => {
  const { index } = readIslands(pagePath("demo"));
  const { page } = await open(browser, "demo", { hash: "#cases" });
  const holds = { eyes: (item) => item.queue != null, worse: (item) => item.lift < 0, better: (item) => item.lift > 0, same: (item) => item.lift === 0, blocked: (item) => item.blocked > 0, unstable: (item) => item.unstable };
  for (const [filter, rule] of Object.entries(holds)) {
    await visit(page, "#cases&f=" + filter);
    assert.deepEqual((await shownIds(page)).sort(), index.cases.filter(rule).map((item) => item.id).sort(), filter);
  }
  await page.context().close();
});

test("12 up to 300 cases every id is in the document", async () => {
  const { index } = readIslands(pagePath("demo"));
  assert.ok(index.cases.length <= 300);
  const { page } = await open(browser, "demo", { hash: "#cases" });
  const text = await page.locator("#cases").innerText();
  for (const { id } of index.cases) assert.ok(text.includes(id), id);
  assert.equal(await page.evaluate((id) => window.find(id), index.cases.at(-1).id), true);
  await page.context().close();
});

test("search: all words, in id, title, domain, difficulty, tags, split and flags; nothing found is said", async () => {
  const { index } = readIslands(pagePath("demo"));
  const { page } = await open(browser, "demo", { hash: "#cases" });
  const some = (values) => values.flat().find(Boolean), flag = some(index.cases.map((item) => item.flags.map(([label]) => label)));
  const first = index.cases.find((item) => item.domain && item.difficulty), queries = [`${first.difficulty.toUpperCase()} ${first.domain}`, some(index.cases.map((item) => item.tags)), flag, some(index.cases.map((item) => item.split))].filter(Boolean);
  assert.ok(queries.length >= 3);
  for (const query of queries) {
    await page.locator("#search").fill(query);
    const words = query.toLowerCase().split(/\s+/);
    const expected = index.cases.filter((item) => words.every((word) => [item.id, item.title, item.domain, item.difficulty, item.split, ...item.tags, ...item.flags.map((flag) => flag[0])].some((text) => text?.toLowerCase().includes(word)))).map((item) => item.id);
    assert.ok(expected.length > 0, query);
    assert.deepEqual((await shownIds(page)).sort(), expected.sort(), query);
    assert.equal(await page.locator("#cases .status").innerText(), `${expected.length} of ${index.cases.length} cases shown.`, query);
  }
  await page.locator("#search").fill("no such thing");
  assert.match(await page.locator("#cases .empty").innerText(), /^No case matches “no such thing”\.\s+Clear search and filter$/);
  await page.locator("#cases .empty button").click();
  assert.equal((await shownIds(page)).length, index.cases.length);
  await page.context().close();
});

test("search: text:word looks into prompts and answers", async () => {
  const { index, detail, texts } = readIslands(pagePath("demo"));
  const { page } = await open(browser, "demo", { hash: "#cases" });
  const word = "warehouse-or-gapped", last = index.cases.at(-1).id, wanted = texts(last)[detail(last).turns[0]].text.toLowerCase().match(/[a-z]{5,}/)[0];
  const holds = (id, text) => [...detail(id).turns, ...detail(id).runs.flatMap((run) => (run.answer || []).map((file) => file.text))].some((number) => texts(id)[number]?.text.toLowerCase().includes(text));
  await page.locator("#search").fill("text:" + wanted);
  const expected = index.cases.filter((item) => holds(item.id, wanted)).map((item) => item.id).sort();
  assert.ok(expected.length > 0);
  await page.waitForFunction((number) => document.querySelector("#cases .status").textContent.startsWith(`${number} of`), expected.length);
  assert.deepEqual((await shownIds(page)).sort(), expected);
  await page.locator("#search").fill(`text:${word}`);
  await page.waitForFunction(() => document.querySelector("#cases .status").textContent.startsWith("0 of"));
  assert.equal(await page.locator("#cases .empty").count(), 1);
  await page.context().close();
});

test("10 big: ready, painted and small enough; 20 cases stay under 200 MB", async (context) => {
  const { index } = readIslands(pagePath("big"));
  assert.equal(index.cases.length, 1000);
  assert.equal(index.cases.reduce((sum, item) => sum + item.runs.length, 0), 10000);
  assert.ok(statSync(pagePath("big")).size <= 24 * 1024 * 1024);
  const own = await startBrowser();
  const { page } = await open(own, null, { url: "about:blank" }), work = await workOf(page);
  await page.goto(pathToFileURL(pagePath("big")).href);
  const times = await page.evaluate(() => ({ ready: performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd, paint: performance.getEntriesByName("first-paint")[0]?.startTime }));
  const { Task: opening, JSHeapUsedSize: heap } = await work();
  // The limits of 2,000 and 500 ms are for an idle machine: they are printed. What fails is what only a wrong way to open a
  // page does: processor time beyond the limit (200 to 300 ms are usual), or answers that are parsed before their case is
  // opened (a heap of 20 MB, where 3 are usual).
  assert.ok(opening < 2000, `opening takes ${opening} ms of processor time`);
  assert.ok(heap < 10e6, `a heap of ${heap} bytes`);
  assert.ok(times.paint != null && times.paint <= times.ready, `first paint after ${times.paint} ms, DOM ready after ${times.ready} ms`);
  for (let i = 0; i < 20; i++) await visit(page, "#case=" + encodeURIComponent(index.cases[i * 50].id));
  // what nothing holds any more goes when the browser likes: it is not what the page takes
  await (await page.context().newCDPSession(page)).send("HeapProfiler.collectGarbage");
  const session = await own.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const renderers = processInfo.filter((process) => process.type === "renderer").map(({ id }) => {
    const rollup = readFileSync(`/proc/${id}/smaps_rollup`, "utf8");
    return ["Private_Clean", "Private_Dirty"].reduce((sum, name) => sum + Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(rollup)[1]), 0) / 1024;
  });
  assert.ok(renderers.length > 0);
  context.diagnostic(`big: ${(statSync(pagePath("big")).size / 2 ** 20).toFixed(1)} MiB, DOM ready ${Math.round(times.ready)} ms (limit 2,000; ${Math.round(opening)} ms of processor time), first paint ${Math.round(times.paint)} ms (limit 500), renderer ${Math.max(...renderers).toFixed(0)} MB after 20 cases (limit 200), load ${loadavg()[0].toFixed(1)}`);
  assert.ok(Math.max(...renderers) < 200, `renderers: ${renderers.map((size) => size.toFixed(0)).join(", ")} MB`);
  await own.close();
});

test("11 big: few rows in the document, the ends are reached, a keystroke builds these rows alone", async (context) => {
  const { index } = readIslands(pagePath("big"));
  const { page } = await open(browser, "big", { hash: "#cases" });
  const rows = () => page.evaluate(() => [...document.querySelectorAll("#cases tbody tr[aria-rowindex]")].map((row) => Number(row.getAttribute("aria-rowindex"))));
  assert.equal(await page.locator("#cases table").getAttribute("aria-rowcount"), "1000");
  assert.match(await page.locator("#cases .status").innerText(), /Use the search field: the list shows only the rows in view\.$/);
  let now = await rows();
  assert.ok(now.length > 5 && now.length < 60, `${now.length} rows`);
  assert.equal(now[0], 1);
  await page.locator("#cases .chip").first().focus();
  await page.keyboard.press("End");
  await page.waitForFunction(() => document.querySelector("#cases tr[aria-rowindex='1000']"));
  now = await rows();
  assert.ok(now.length < 60 && now.at(-1) === 1000);
  const last = await page.evaluate(() => document.querySelector("#cases tr[aria-rowindex='1000']").getBoundingClientRect().bottom <= innerHeight);
  assert.ok(last, "the last row is in view");
  await page.keyboard.press("Home");
  await page.waitForFunction(() => document.querySelector("#cases tr[aria-rowindex='1']"));
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight / 2));
  await page.waitForFunction(() => { const row = document.querySelector("#cases tbody tr[aria-rowindex]"); return row && row.getBoundingClientRect().top < innerHeight && Number(row.getAttribute("aria-rowindex")) > 300; });
  const inView = await page.evaluate(() => { const at = document.elementFromPoint(innerWidth / 2, innerHeight / 2).closest("tr"); return Boolean(at?.dataset.position); });
  assert.ok(inView, "the middle of the window shows a row");
  await page.evaluate(() => scrollTo(0, 0));
  const work = await workOf(page), strokes = [];
  for (const query of ["c", "ca", "case-00", "d3", ""]) {
    const from = await work();
    const { wall, built } = await page.evaluate((words) => {
      const search = document.getElementById("search"), started = performance.now(), watch = new MutationObserver(() => {});
      watch.observe(document.getElementById("cases"), { childList: true, subtree: true });
      search.value = words;
      search.dispatchEvent(new Event("input"));
      document.body.getBoundingClientRect();
      return { wall: performance.now() - started, built: watch.takeRecords().flatMap(({ addedNodes }) => [...addedNodes]).filter((node) => node.nodeName === "TR").length };
    }, query);
    const to = await work();
    strokes.push({ wall, built, work: ["Script", "Layout", "RecalcStyle"].reduce((sum, part) => sum + to[part] - from[part], 0) });
  }
  const most = (part) => Math.max(...strokes.map((stroke) => stroke[part]));
  context.diagnostic(`big: a keystroke takes ${most("wall").toFixed(0)} ms (limit 50; ${most("work").toFixed(0)} ms of processor time), load ${loadavg()[0].toFixed(1)}`);
  // The limit of 50 ms is for an idle machine: it is printed. What fails is what only a wrong algorithm does: rows that are
  // not in view are built, or the work grows with all cases (a list of all rows takes about 400 ms, this one about 20).
  assert.ok(most("built") < 120, `${most("built")} rows are built`);
  assert.ok(most("work") < 150, `${most("work")} ms of processor time`);
  for (let i = 0; i < 30; i++) await page.keyboard.press("j");
  assert.equal(await page.evaluate(() => document.activeElement.closest("tr")?.getAttribute("aria-rowindex")), "30");
  assert.equal(index.cases.length, 1000);
  await page.context().close();
});

test("a press anywhere in a row opens its case", async () => {
  const { page } = await open(browser, "demo", { hash: "#cases" });
  const [first] = await shownIds(page);
  await page.locator("#cases tbody tr").first().locator("td").nth(4).click();
  assert.equal(await page.locator("#case h1").innerText(), first);
  await page.context().close();
});
