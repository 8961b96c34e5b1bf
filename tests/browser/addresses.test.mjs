// Check 9: every state is an address, and Back and Forward bring back where one was.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open, startBrowser } from "./browser.mjs";
import { pagePath, readIslands, variantPath } from "./pages.mjs";

let browser;
before(async () => { browser = await startBrowser(); });
after(() => browser.close());

const content = (page, view) => page.evaluate((name) => {
  const copy = document.getElementById(name).cloneNode(true);
  for (const element of copy.querySelectorAll("[data-key], a")) element.removeAttribute("data-key");
  return copy.outerHTML;
}, view);

test("9 what was clicked together is what its address loads", async () => {
  const { index, detail } = readIslands(pagePath("demo"));
  const item = index.cases.find((other) => other.lift > 0 && new Set(other.runs.map((run) => run[2])).size > 1 && detail(other.id).checks.length > 1);
  const { page } = await open(browser, "demo", { hash: "#cases" });
  await page.locator("#cases .chip", { hasText: "Better" }).click();
  await page.locator("#search").fill(item.id);
  await page.locator("#cases tbody a").first().click();
  await page.locator("#case .runs .row").nth(1).locator("button").nth(1).click();
  await page.locator("#case .as .nm").nth(1).click();
  await page.locator("#case .seg button", { hasText: "Raw" }).click();
  if (index.previous) await page.locator("#case .seg button", { hasText: index.previous }).click();
  const hash = await page.evaluate(() => location.hash), given = new URLSearchParams(hash.slice(1)), second = [...new Set(item.runs.map((run) => run[2]))].sort((a, b) => a - b)[1];
  assert.deepEqual([given.get("case"), given.get("q"), given.get("f"), given.get("r"), given.get("view"), given.get("cmp")], [item.id, item.id, "better", String(second), "raw", index.previous ? "prev" : null]);
  assert.ok(Number(given.get("a")) >= 1);
  const clicked = await content(page, "case");
  const fresh = await open(browser, "demo", { hash });
  assert.equal(await content(fresh.page, "case"), clicked);
  await page.context().close();
  await fresh.page.context().close();
});

test("9 the address keeps defaults out and unusual ids whole", async () => {
  const { index } = readIslands(pagePath("hostile"));
  for (const { id } of index.cases) {
    const { page } = await open(browser, "hostile", { hash: "#cases" });
    const position = await page.evaluate((wanted) => [...document.querySelectorAll("#cases tbody a")].findIndex((link) => new URLSearchParams(link.getAttribute("href").slice(1)).get("case") === wanted), id);
    assert.notEqual(position, -1, id);
    await page.locator("#cases tbody a").nth(position).click();
    const hash = await page.evaluate(() => location.hash);
    assert.equal(hash, "#case=" + encodeURIComponent(id));
    assert.ok(await page.locator("#case .arms").isVisible());
    const clicked = await content(page, "case");
    await page.reload();
    assert.equal(await content(page, "case"), clicked);
    await page.context().close();
  }
});

test("9 Back and Forward restore view, filter, scroll and focus", async () => {
  const { page } = await open(browser, "demo", { height: 400 });
  await page.locator(".tabs a", { hasText: "Cases" }).click();
  await page.locator("#cases .chip", { hasText: "Better" }).click();
  const link = page.locator("#cases tbody a").nth(5);
  await link.scrollIntoViewIfNeeded();
  await page.evaluate(() => scrollTo(0, 200));
  const id = await link.getAttribute("href"), top = await page.evaluate(() => scrollY);
  assert.ok(top > 0);
  await link.focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => location.hash), id);
  assert.equal(await page.evaluate(() => scrollY), 0);
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "H1");
  await page.keyboard.press("j");
  const second = await page.evaluate(() => location.hash);
  assert.notEqual(second, id);
  await page.goBack();
  assert.equal(await page.evaluate(() => location.hash), id);
  await page.goBack();
  assert.equal(await page.evaluate(() => location.hash), "#cases&f=better");
  assert.equal(await page.locator("#cases .chip[aria-pressed=true]").innerText().then((text) => text.replace(/\d+/, "").trim()), "Better");
  assert.equal(await page.evaluate(() => scrollY), top);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("href")), id);
  await page.goForward();
  await page.goForward();
  assert.equal(await page.evaluate(() => location.hash), second);
  await page.goBack();
  await page.goBack();
  await page.goBack();
  assert.ok(await page.locator("#overview").isVisible());
  await page.context().close();
});

test("9 a case, a view: new entries; filter, search, sort, repetition, check: the same entry", async () => {
  const { page } = await open(browser, "demo", { hash: "#cases" });
  const length = () => page.evaluate(() => history.length);
  const start = await length();
  await page.locator("#search").fill("e");
  await page.locator("#cases .chip", { hasText: "Better" }).click();
  await page.locator("#cases th button", { hasText: "Lift" }).click();
  assert.equal(await length(), start);
  await page.locator("#cases tbody a").first().click();
  assert.equal(await length(), start + 1);
  await page.locator("#case .runs button").nth(1).click();
  await page.locator("#case .as .nm").first().click();
  assert.equal(await length(), start + 1);
  await page.keyboard.press("j");
  assert.equal(await length(), start + 2);
  await page.context().close();
});

test("9 links of the overview lead to the same states; a place inside it stays inside it", async () => {
  const { page } = await open(browser, variantPath("demo", () => {}), { width: 900 });
  await page.locator("#overview .jump a").click();
  assert.ok(await page.locator("#overview").isVisible());
  await page.locator("#overview .eyes .btn").click();
  const hash = await page.evaluate(() => location.hash);
  assert.match(hash, /^#case=.*&f=eyes$/);
  assert.match(await page.locator("#case .crumb").innerText(), /1 of \d+ · needs your eyes/);
  await page.context().close();
});

test("9 titles of the document name the view", async () => {
  const { index } = readIslands(pagePath("demo"));
  const { page } = await open(browser, "demo");
  assert.equal(await page.title(), `${index.headline} · ${index.skill} · skill-lift`);
  await page.keyboard.press("c");
  assert.equal(await page.title(), `Cases · ${index.skill} · skill-lift`);
  await page.locator("#cases tbody a").first().click();
  assert.equal(await page.title(), `${await page.locator("#case h1").innerText()} · ${index.skill} · skill-lift`);
  await page.context().close();
});
