// Checks 15 and 16: single keys, and the way of the Tab key.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open, startBrowser, visit } from "./browser.mjs";
import { pagePath, readIslands } from "./pages.mjs";

let browser;
before(async () => { browser = await startBrowser(); });
after(() => browser.close());

const hash = (page) => page.evaluate(() => location.hash);
const given = async (page) => new URLSearchParams((await hash(page)).slice(1));
const pressed = (page, label) => page.locator(`#case [aria-label="${label}"] [aria-pressed=true]`).innerText();

// The order of the list when nothing is chosen, worked out from the data.
function listed(index) {
  const suite = new Map(index.cases.map((item, position) => [item.id, position]));
  return [...index.cases].sort((a, b) => (a.queue ?? 9) - (b.queue ?? 9) || (a.lift ?? 9) - (b.lift ?? 9) || suite.get(a.id) - suite.get(b.id)).map((item) => item.id);
}

test("15 o, c, /, j, k, Enter, Esc, n", async () => {
  const { index } = readIslands(pagePath("demo")), ids = listed(index);
  const { page } = await open(browser, "demo");
  await page.keyboard.press("c");
  assert.equal(await hash(page), "#cases");
  await page.keyboard.press("o");
  assert.equal(await hash(page), "#overview");
  await page.keyboard.press("/");
  assert.equal(await hash(page), "#cases");
  assert.equal(await page.evaluate(() => document.activeElement.id), "search");
  assert.equal(await page.locator("#search").inputValue(), "");
  await page.keyboard.type("jo");
  assert.equal(await page.locator("#search").inputValue(), "jo", "keys are letters inside a field");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#search").inputValue(), "", "a search that is not empty is cleared first");
  assert.equal(await page.evaluate(() => document.activeElement.id), "search");
  await page.keyboard.press("Escape");
  assert.notEqual(await page.evaluate(() => document.activeElement.id), "search");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  assert.equal((await given(page)).get("case"), ids[1]);
  await page.keyboard.press("j");
  assert.equal((await given(page)).get("case"), ids[2]);
  await page.keyboard.press("k");
  await page.keyboard.press("k");
  assert.equal((await given(page)).get("case"), ids[0]);
  await page.keyboard.press("k");
  assert.equal((await given(page)).get("case"), ids[0], "the first case has none before it");
  await page.keyboard.press("n");
  assert.deepEqual([(await given(page)).get("case"), (await given(page)).get("f")], [ids[1], "eyes"]);
  await page.keyboard.press("Escape");
  assert.equal(await hash(page), "#cases&f=eyes");
  const queue = index.cases.filter((item) => item.queue != null).length;
  await visit(page, "#case=" + encodeURIComponent(ids[queue - 1]));
  await page.keyboard.press("n");
  assert.equal((await given(page)).get("case"), ids[0], "after the last one comes the first");
  await page.context().close();
});

test("15 [ ] m v f 1 2 3 ? on a case", async () => {
  const { index } = readIslands(pagePath("demo")), item = index.cases.find((other) => new Set(other.runs.map((run) => run[1])).size > 1 && new Set(other.runs.map((run) => run[2])).size > 1);
  const repetitions = [...new Set(item.runs.map((run) => run[2]))].sort((a, b) => a - b), models = [...new Set(item.runs.map((run) => run[1]))].sort();
  const { page } = await open(browser, "demo", { hash: "#case=" + encodeURIComponent(item.id) });
  await page.keyboard.press("]");
  assert.equal((await given(page)).get("r"), String(repetitions[1]));
  await page.keyboard.press("[");
  assert.equal((await given(page)).get("r"), null);
  await page.keyboard.press("[");
  assert.equal((await given(page)).get("r"), String(repetitions.at(-1)));
  await page.keyboard.press("m");
  assert.equal((await given(page)).get("m"), String(models[1] + 1));
  for (let i = 1; i < models.length; i++) await page.keyboard.press("m");
  assert.equal((await given(page)).get("m"), null);
  await page.keyboard.press("v");
  assert.equal(await pressed(page, "Show answers as"), "Raw");
  await page.keyboard.press("v");
  assert.equal(await pressed(page, "Show answers as"), "Rendered");
  for (const [key, verdict] of [["1", "pass"], ["2", "fail"], ["3", "unsure"]]) {
    await page.keyboard.press(key);
    assert.equal(await page.locator("#case input[name=verdict]:checked").getAttribute("value"), verdict);
  }
  await page.keyboard.press("f");
  assert.equal(await page.evaluate(() => document.activeElement.id), "note");
  await page.keyboard.type("123 vmo");
  assert.equal(await page.locator("#note").inputValue(), "123 vmo");
  assert.equal(await page.locator("#case input[name=verdict]:checked").getAttribute("value"), "unsure");
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "BODY");
  const before = await hash(page);
  await page.keyboard.press("?");
  assert.ok(await page.locator("#help").isVisible());
  await page.keyboard.press("o");
  await page.keyboard.press("j");
  assert.equal(await hash(page), before, "no key acts while the dialog is open");
  await page.keyboard.press("Escape");
  assert.ok(!await page.locator("#help").isVisible());
  assert.equal(await hash(page), before, "Esc closed the dialog and nothing else");
  await page.context().close();
});

test("15 Ctrl, Alt, Meta, arrows and space keep the meaning of the browser", async () => {
  const { page } = await open(browser, "demo", { hash: "#cases" });
  for (const key of ["Control+o", "Alt+o", "Meta+o", "Control+j", "ArrowDown", "ArrowLeft", " "]) {
    const prevented = await page.evaluate((pressed) => {
      const [, modifier, letter] = /^(?:(\w+)\+)?(.+)$/.exec(pressed);
      const event = new KeyboardEvent("keydown", { key: letter, ctrlKey: modifier === "Control", altKey: modifier === "Alt", metaKey: modifier === "Meta", bubbles: true, cancelable: true });
      document.body.dispatchEvent(event);
      return event.defaultPrevented;
    }, key);
    assert.equal(prevented, false, key);
    assert.equal(await hash(page), "#cases", key);
  }
  await page.context().close();
});

test("15 the switch turns single keys off, and stays off", async () => {
  const { page } = await open(browser, "demo", { hash: "#cases" });
  await page.locator("#help-open").click();
  await page.locator("#keys").uncheck();
  await page.locator("#help-close").click();
  for (const key of ["o", "j", "n", "/", "?"]) await page.keyboard.press(key);
  assert.equal(await hash(page), "#cases");
  assert.ok(!await page.locator("#help").isVisible());
  await page.reload();
  await page.keyboard.press("o");
  assert.equal(await hash(page), "#cases");
  await page.locator("#help-open").click();
  assert.equal(await page.locator("#keys").isChecked(), false);
  await page.locator("#keys").check();
  await page.locator("#help-close").click();
  await page.keyboard.press("o");
  assert.equal(await hash(page), "#overview");
  await page.context().close();
});

test("16 Tab reaches every control in the order of reading, and what has the focus is in view", async () => {
  const { index } = readIslands(pagePath("demo"));
  const id = "#case=" + encodeURIComponent(index.cases[0].id);
  for (const [address, width] of [["#overview", 1280], ["#cases", 1280], [id, 1280], [id + "&view=raw", 1280], ["#cases", 420], [id, 420]]) {
    const { page } = await open(browser, "demo", { hash: address, width });
    const wanted = await page.evaluate(() => {
      const radios = new Set();
      const reachable = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")].filter((element) => {
        if (!element.checkVisibility() || element.disabled || element.closest("dialog")) return false;
        // a group of radio buttons is one stop
        if (element.type === "radio") return radios.has(element.name) ? false : radios.add(element.name);
        return true;
      });
      reachable.forEach((element, number) => { element.dataset.stop = number; });
      return reachable.length;
    });
    const stops = [], hiddenStops = [];
    const look = async () => {
      const stop = await page.evaluate(() => {
        const element = document.activeElement, box = element.getBoundingClientRect(), header = document.querySelector(".top").getBoundingClientRect();
        const inHeader = Boolean(element.closest(".top")) || element.classList.contains("skip"), style = getComputedStyle(element);
        return { number: Number(element.dataset.stop), name: element.outerHTML.slice(0, 80), seen: box.bottom > (inHeader ? 0 : header.bottom) && box.top < innerHeight && (inHeader || box.top >= header.bottom - 1 || box.height > innerHeight - header.height),
          ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 || Boolean(element.closest("svg")) };
      });
      stops.push(stop.number);
      if (!stop.seen || !stop.ring) hiddenStops.push(stop);
    };
    // an address with the name of a view makes it the place where Tab starts: start at the first stop
    await page.evaluate(() => document.querySelector(".skip").focus());
    await look();
    for (let i = 1; i < wanted; i++) {
      await page.keyboard.press("Tab");
      await look();
    }
    // backwards the header is what could cover the focus
    for (let i = 1; i < wanted; i++) {
      await page.keyboard.press("Shift+Tab");
      await look();
    }
    const forwards = [...Array(wanted).keys()];
    assert.deepEqual(stops, [...forwards, ...forwards.slice(0, -1).reverse()], `${address} ${width}`);
    assert.deepEqual(hiddenStops, [], `${address} ${width}`);
    await page.context().close();
  }
});

test("16 the skip link leads to the heading of the view", async () => {
  const { page } = await open(browser, "demo", { hash: "#cases" });
  await page.locator(".skip").focus();
  assert.ok(await page.evaluate(() => document.querySelector(".skip").getBoundingClientRect().left >= 0), "seen when it has the focus");
  await page.keyboard.press("Enter");
  assert.deepEqual(await page.evaluate(() => [document.activeElement.tagName, document.activeElement.textContent]), ["H1", "Cases"]);
  assert.equal(await hash(page), "#cases");
  await page.context().close();
});
