// Checks 1, 5 to 8 and 29: what a page asks for, and what hostile text can do in it.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { open, startBrowser, unfold, visit } from "./browser.mjs";
import { PAGES, fixtureOf, pagePath, readIslands, variantPath } from "./pages.mjs";

let browser;
before(async () => { browser = await startBrowser(); });
after(() => browser.close());

// Section 9.4, written down once more.
const SEQUENCE = /(?:\u001b\[|\u009b)[0-?]*[ -\/]*[@-~]|\u001b\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?/g;
const CHARACTER = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}]/gu;
function boxesOf(text) {
  const shown = text.replace(/\r\n/g, "\n"), sequences = shown.match(SEQUENCE) || [];
  return sequences.length + (shown.replace(SEQUENCE, "").match(CHARACTER) || []).length;
}
const caseAddress = (id, more = "") => `#case=${encodeURIComponent(id)}${more}`;

for (const name of PAGES) {
  test(`1 ${name}: no request but the file and data:, no console message, offline`, async () => {
    const { page, requests, messages, address } = await open(browser, name);
    const { index } = readIslands(pagePath(name));
    for (const hash of ["#cases", caseAddress(index.cases[0].id), caseAddress(index.cases.at(-1).id, "&view=raw"), caseAddress(index.cases[0].id, "&view=diff"), "#overview"]) await visit(page, hash);
    assert.deepEqual(requests.filter((url) => !url.startsWith("data:")), [address]);
    assert.deepEqual(messages, []);
    await page.context().close();
  });
}

test("5 markup from strings throws, fetch rejects", async () => {
  const { page } = await open(browser, "demo");
  const tried = await page.evaluate(async () => {
    const attempt = async (act) => { try { await act(); return "allowed"; } catch (error) { return error.name; } };
    return { innerHTML: await attempt(() => { document.body.innerHTML = ""; }), insert: await attempt(() => document.body.insertAdjacentHTML("beforeend", "<p>")), write: await attempt(() => document.write("x")),
      fetch: await attempt(() => fetch("https://example.org/")), fetchFile: await attempt(() => fetch("demo.html")), eval: await attempt(() => setTimeout("1")), text: document.querySelector("#overview h1").textContent };
  });
  assert.equal(tried.innerHTML, "TypeError");
  assert.equal(tried.insert, "TypeError");
  assert.equal(tried.write, "TypeError");
  assert.equal(tried.fetch, "TypeError");
  assert.equal(tried.fetchFile, "TypeError");
  assert.notEqual(tried.eval, "allowed");
  assert.ok(tried.text.length > 3, "the page is still there");
  await page.context().close();
});

for (const name of PAGES) {
  test(`5 ${name}: hashes of the policy are those of the scripts and the style; no style= and no on…=`, () => {
    const file = readFileSync(pagePath(name), "utf8");
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(file)[1].replaceAll("&#x27;", "'").replaceAll("&#39;", "'");
    const hashes = (pattern) => [...file.matchAll(pattern)].map(([, text]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`);
    const directives = Object.fromEntries(policy.split(";").map((part) => part.trim().split(/\s+(.*)/)).map(([key, value]) => [key, value]));
    assert.equal(directives["script-src"], hashes(/<script>([^]*?)<\/script>/g).join(" "));
    assert.equal(directives["style-src"], hashes(/<style>([^]*?)<\/style>/g).join(" "));
    assert.deepEqual({ ...directives, "script-src": "", "style-src": "" }, { "default-src": "'none'", "script-src": "", "style-src": "", "img-src": "data:", "connect-src": "'none'", "form-action": "'none'", "base-uri": "'none'", "require-trusted-types-for": "'script'", "trusted-types": "'none'" });
    const markup = file.replace(/<script[^]*?<\/script>/g, "").replace(/<style>[^]*?<\/style>/g, "");
    assert.doesNotMatch(markup, /<[a-z][^>]*\s(style|on[a-z]+)\s*=/i);
    assert.doesNotMatch(markup, /<(link|iframe|object|embed|base)\b/i);
  });
}

test("5 the script uses none of the ways to make markup or code from strings", () => {
  const script = [...readFileSync(pagePath("demo"), "utf8").matchAll(/<script>([^]*?)<\/script>/g)].map(([, text]) => text).join("\n");
  assert.doesNotMatch(script, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\s*\(|new Function|setAttribute\("style"/);
});

test("script and style stay within 111 KiB together", () => {
  const file = readFileSync(pagePath("demo"), "utf8"), own = [...file.matchAll(/<script>([^]*?)<\/script>|<style>([^]*?)<\/style>/g)].map(([, script, style]) => script ?? style);
  assert.equal(own.length, 3);
  const bytes = own.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  assert.ok(bytes <= 111 * 1024, `${bytes} bytes`);
});

test("6 hostile: title unchanged, nothing made from data, one box per hidden character", async () => {
  const { page } = await open(browser, "hostile");
  const { index, detail, texts } = readIslands(pagePath("hostile"));
  const scripts = await page.evaluate(() => document.scripts.length);
  let boxes = 0;
  for (const { id } of index.cases) {
    const [file] = detail(id).runs.find((run) => run.arm === 0).answer, text = texts(id)[file.text].text;
    for (const view of ["", "&view=raw", "&view=diff"]) {
      await visit(page, caseAddress(id, view));
      await unfold(page, "#case");
      const found = await page.evaluate(() => {
        const box = document.querySelector("#case .out"), count = (selector) => document.querySelectorAll(`#case ${selector}`).length;
        return { title: document.title, made: count("img:not(.picture img)") + count(".picture img:not([src^='data:image/'])") + count("script") + count("iframe") + count("a[href^=http]") + count("a[href^=javascript]"), scripts: document.scripts.length, boxes: box.querySelectorAll(".ctl").length,
          text: document.querySelector("#case").textContent + document.title, labels: [...document.querySelectorAll("#case *")].flatMap((element) => [...element.attributes].map((attribute) => attribute.value)).join("\n"), alert: box.parentElement.querySelector(".alert")?.textContent };
      });
      assert.ok(!found.title.startsWith("PWNED"), found.title);
      assert.equal(found.made, 0);
      assert.equal(found.scripts, scripts);
      assert.deepEqual(found.text.match(CHARACTER), null);
      assert.deepEqual(found.labels.replace(/case [^\n]*|#case=[^\n]*/g, "").match(CHARACTER), null, "attributes");
      if (view === "&view=diff") continue;
      assert.equal(found.boxes, boxesOf(text), `${id} ${view}`);
      boxes += found.boxes;
      if (boxesOf(text) > 1) assert.equal(found.alert, `Holds ${boxesOf(text)} hidden or direction-changing characters. They are shown as labels and never executed.`);
    }
  }
  assert.ok(boxes >= 2 * 60, `${boxes} boxes`);
  await page.context().close();
});

test("6 labels name what they stand for; copying copies the label", async () => {
  const path = variantPath("rtl-cjk", ({ chunks }) => { chunks[0].texts[chunks[0].cases["arabic-mixed"].runs[0].answer[0].text].text = "a\u202eb\u200bc\u001b[31md\u001b]0;t\u0007e\u0085f\u{e0041}g\rh👨‍👩‍👧می‌خواهم\r\nend\n"; });
  const { page } = await open(browser, path, { hash: "#case=arabic-mixed&view=raw" });
  const labels = await page.evaluate(() => [...document.querySelectorAll("#case .out")[0].querySelectorAll(".ctl")].map((box) => [box.textContent, box.title]));
  assert.deepEqual(labels, [["RLO", "U+202E RLO: shown, not executed"], ["ZWSP", "U+200B ZWSP: shown, not executed"], ["ESC[31m", "U+001B ESC: shown, not executed"], ["ESC]0;tBEL", "U+001B ESC: shown, not executed"],
    ["NEL", "U+0085 NEL: shown, not executed"], ["U+E0041", "U+E0041: shown, not executed"], ["CR", "U+000D CR: shown, not executed"]]);
  const lines = await page.evaluate(() => [...document.querySelectorAll("#case .out")[0].querySelectorAll(".ln > div")].map((line) => line.textContent));
  assert.deepEqual(lines, ["aRLObZWSPcESC[31mdESC]0;tBELeNELfU+E0041gCRh👨‍👩‍👧می‌خواهم", "end"]);
  await page.context().close();
});

test("7 hostile: no direction character and no ESC in the bytes; </script as often as scripts", () => {
  const bytes = readFileSync(pagePath("hostile")), file = bytes.toString("utf8");
  assert.deepEqual(file.match(/[\u202a-\u202e\u2066-\u2069\u200b\u001b]/g), null);
  const opened = file.match(/<script>|<script type="application\/json" id="sl-[a-z0-9]+">/g).length;
  assert.equal(file.match(/<\/script/gi).length, opened);
});

test("8 an unknown case is shown as text", async () => {
  const { page, messages } = await open(browser, "demo", { hash: "#case=" + encodeURIComponent("<img src=x onerror=\"document.title='PWNED'\">") });
  const found = await page.evaluate(() => ({ text: document.querySelector("#case").innerText, images: document.querySelectorAll("#case img").length, title: document.title, link: document.querySelector("#case a").getAttribute("href") }));
  assert.match(found.text, /^No such case\s+This review has no case “<img src=x onerror="document\.title='PWNED'">”\.\s+Show all cases$/);
  assert.equal(found.images, 0);
  assert.match(found.title, /^No such case · /);
  assert.equal(found.link, "#cases");
  assert.deepEqual(messages, []);
  await page.context().close();
});

test("8 unknown values fall back to defaults", async () => {
  const { index } = readIslands(pagePath("demo"));
  const { page } = await open(browser, "demo", { hash: caseAddress(index.cases[0].id) + "&f=__proto__&s=constructor&d=7&m=99&r=x&a=-1&view=html&cmp=nobody" });
  const found = await page.evaluate(() => [...document.querySelectorAll("#case [aria-pressed=true]")].map((element) => element.textContent));
  // with one thing to compare with there is no choice
  assert.deepEqual(found.slice(1), index.previous || index.arms.length > 2 ? ["Rendered", "Without"] : ["Rendered"]);
  assert.match(await page.locator("#case .crumb").innerText(), new RegExp(`of ${index.cases.length}\\b`));
  await page.context().close();
});

test("7 a damaged part is said, and the page keeps working", async () => {
  const path = variantPath("demo", (page) => { page.chunks[1] = "{ not JSON"; });
  const { index } = fixtureOf("demo");
  const { page, messages } = await open(browser, path, { hash: caseAddress(index.cases.find((item) => item.chunk === 1).id) });
  assert.match(await page.locator("#case").innerText(), /The data of this case cannot be read \(part 2\)\. Render the page again\./);
  await visit(page, caseAddress(index.cases.find((item) => item.chunk === 0).id));
  assert.equal(await page.locator("#case .out").count(), 2);
  assert.deepEqual(messages, []);
  await page.context().close();
});

test("29 without script the overview is complete and the notice is shown", async () => {
  const { page } = await open(browser, "demo", { script: false });
  assert.ok(await page.locator("#overview h1").isVisible());
  assert.equal(await page.locator("noscript").innerText(), "The numbers below need no script. Answers, traces and feedback do: they are also in report.md and in the run folders.");
  assert.ok(!await page.locator("#cases").isVisible());
  assert.ok(!await page.locator("#tools").isVisible(), "no dead buttons");
  await page.context().close();
});
