// Pages of reports of several skills, and sections that only some reports have; written by the program.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { open, startBrowser, visit } from "./browser.mjs";
import { given, readIslands, pagePath } from "./pages.mjs";

const AXE = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
let browser;

// pages made by hand have one skill and no such sections
if (given) {
  before(async () => { browser = await startBrowser(); });
  after(() => browser.close());

  test("several skills: one section each, one list of cases, and the way from one to the other", async () => {
    const { page, requests, messages, address } = await open(browser, "skills"), { index } = readIslands(pagePath("skills"));
    assert.deepEqual(messages, []);
    assert.deepEqual(requests.filter((url) => url !== address && !url.startsWith("data:")), []);
    const names = await page.locator("#overview section.skill > h2").allTextContents();
    assert.deepEqual(names, ["alpha", "beta", "gamma"]);
    assert.deepEqual(await page.locator("#overview > .hero .lift tbody th").allTextContents().then((rows) => rows.map((row) => row.replace(/(alpha|beta|gamma).*/, "$1"))), ["Mean over the skills", "alpha", "beta", "gamma"]);
    await page.click("#overview > .hero .lift a[href='#skill-3']");
    assert.equal(await page.evaluate(() => location.hash), "#skill-3");
    assert.equal(await page.evaluate(() => { const { top } = document.getElementById("skill-3").getBoundingClientRect(); return top >= 0 && top < innerHeight; }), true);
    const first = index.cases.find((item) => item.id.startsWith("alpha/")), link = page.locator(`#skill-1 .forest a[href='#case=${encodeURIComponent(first.id)}']`);
    assert.equal(await link.isVisible(), false);
    await page.click("#skill-1 > details > summary");
    await link.click();
    assert.equal(await page.locator("#case h1").textContent(), first.id);
    await visit(page, "#cases&q=gamma%2F");
    assert.equal(await page.locator("#cases tbody tr[data-position]").count(), index.cases.filter((item) => item.id.startsWith("gamma/")).length);
    await page.context().close();
  });

  test("several skills: the answers of each stand in the page, and feedback names the case of its skill", async () => {
    const { page } = await open(browser, "skills"), { index } = readIslands(pagePath("skills"));
    for (const skill of ["alpha", "beta"]) {
      const item = index.cases.find(({ id }) => id.startsWith(skill + "/"));
      await visit(page, `#case=${encodeURIComponent(item.id)}`);
      assert.match(await page.locator("#case .arm.w .out").first().textContent(), new RegExp(`${skill}`));
    }
    await page.locator("#case input[name=verdict]").first().check();
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#case [data-key=download]")]);
    const stream = await download.createReadStream(), parts = [];
    for await (const part of stream) parts.push(part);
    const [entry] = JSON.parse(Buffer.concat(parts).toString()).entries;
    assert.match(entry.case_id, /^beta\//);
    await page.context().close();
  });

  for (const name of ["skills", "parts"]) for (const [width, theme] of [[1280, "light"], [1280, "dark"], [420, "light"], [320, "dark"]]) {
    test(`${name}: nothing wider than the window, no violation that axe finds, ${width} ${theme}`, async () => {
      const { page, messages } = await open(browser, name, { width, theme });
      await page.evaluate(() => { for (const fold of document.querySelectorAll("#overview details")) fold.open = true; });
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
      const levels = await page.evaluate(() => [...document.querySelectorAll("#overview :is(h1,h2,h3,h4)")].map((heading) => Number(heading.localName[1])));
      assert.equal(levels.filter((level) => level === 1).length, 1);
      levels.forEach((level, i) => assert.ok(i === 0 || level <= levels[i - 1] + 1, `heading ${i}`));
      await page.evaluate(AXE);
      const violations = await page.evaluate(async () => (await axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })).violations
        .map(({ id, nodes }) => `${id}: ${nodes[0].html}`));
      assert.deepEqual(violations, []);
      assert.deepEqual(messages, []);
      await page.context().close();
    });
  }

  test("parts: what was removed, what was found of it, and the way to its cases", async () => {
    const { page } = await open(browser, "parts");
    const rows = await page.locator("#overview .parts tbody tr:not(.gh)").evaluateAll((list) => list.map((row) => [...row.cells].map((cell) => cell.textContent.trim())));
    assert.deepEqual(rows.map(([, found, p]) => [found, p]), [["confirmed", "0.031"], ["not confirmed", "not tested"], ["no evidence either way", "not tested"]]);
    assert.match(await page.locator("#overview .parts .gh").first().textContent(), /no-headers without the section “Headers”/);
    await page.locator("#overview .parts a").first().click();
    assert.equal(await page.locator("#case h1").textContent(), "c0");
    await page.context().close();
  });

  test("parts: loading by itself, by model, where it should and where it should not", async () => {
    const { page } = await open(browser, "parts");
    const rows = await page.locator("#overview .triggers tbody tr").evaluateAll((list) => list.map((row) => [...row.cells].map((cell) => cell.textContent.trim())));
    assert.deepEqual(rows, [["claude, small", "50%1 of 2 runs, 1 not finished", "100%1 of 1 run"], ["claude, large", "not measured0 of 0 runs", "0%0 of 1 run"]]);
    await page.context().close();
  });
}
