// Checks 27 and 28, the part of the page: verdicts kept in the browser, and verdicts sent to the server.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { open, settles, startBrowser, visit } from "./browser.mjs";
import { pagePath, readIslands, variantPath } from "./pages.mjs";

let browser;
const servers = [];
before(async () => { browser = await startBrowser(); });
after(() => {
  for (const server of servers) server.close();
  return browser.close();
});

// The shape of feedback.json, version 2.
function validate(file) {
  assert.deepEqual(Object.keys(file), ["schema_version", "entries"]);
  assert.equal(file.schema_version, 2);
  for (const entry of file.entries) {
    const known = ["case_id", "variant", "run_number", "model", "assertion", "note", "verdict"];
    for (const [key, value] of Object.entries(entry)) {
      assert.ok(known.includes(key), key);
      if (key === "run_number") assert.ok(Number.isInteger(value) && value >= 1);
      else assert.ok(typeof value === "string" && value.trim() !== "", `${key}: ${value}`);
    }
    assert.ok(entry.case_id && entry.variant && entry.run_number);
    assert.match(entry.variant, /^(with_skill|without_skill|old_skill|ablation:.+)$/);
    if (entry.verdict) assert.match(entry.verdict, /^(pass|fail|unsure)$/);
    assert.ok(entry.verdict || entry.note);
  }
}

async function downloaded(page) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download feedback.json" }).click()]);
  assert.equal(download.suggestedFilename(), "feedback.json");
  return readFileSync(await download.path(), "utf8");
}

const NOTE = "first \"quoted\" line\n  second, with a tab\tand ünïcode 🧮";

test("27 a verdict by key, a note with quotes and newlines, kept over a reload, downloaded in order", async () => {
  const { index, detail } = readIslands(pagePath("demo")), given = index.feedback || [];
  const untouched = index.cases.filter((item) => !given.some((entry) => entry.case_id === item.id) && detail(item.id).checks.length), [first, second] = [untouched[0], untouched.at(-1)];
  const { page } = await open(browser, "demo", { hash: "#case=" + encodeURIComponent(second.id) });
  const counter = () => page.locator("#reviewed").innerText();
  const started = new Set(given.filter((entry) => index.cases.some((item) => item.id === entry.case_id)).map((entry) => entry.case_id)).size;
  assert.equal(await counter(), `${started} of ${index.cases.length} reviewed`);
  await page.keyboard.press("2");
  assert.equal(await page.locator("#case .fb [role=status]").innerText(), "Saved in this browser");
  assert.equal(await counter(), `${started + 1} of ${index.cases.length} reviewed`);
  await visit(page, "#case=" + encodeURIComponent(first.id));
  await page.locator("#note").fill(NOTE);
  await page.getByLabel("About", { exact: true }).selectOption(detail(first.id).checks[0].name);
  await page.keyboard.press("Tab");
  await page.locator("#case input[value=pass]").check();
  await page.getByLabel("Which answer").selectOption("1");
  await page.locator("#note").fill("about the other one");
  await page.reload();
  assert.equal(await counter(), `${started + 2} of ${index.cases.length} reviewed`);
  assert.equal(await page.locator("#note").inputValue(), NOTE);
  const text = await downloaded(page), file = JSON.parse(text);
  assert.equal(text, JSON.stringify(file, null, 2) + "\n");
  validate(file);
  const runOf = (item) => ({ run_number: Math.min(...item.runs.map((run) => run[2])), ...(index.models[Math.min(...item.runs.map((run) => run[1]))] ? { model: index.models[Math.min(...item.runs.map((run) => run[1]))] } : {}) });
  const expected = [
    { case_id: first.id, variant: index.arms[0].variant, ...runOf(first), note: NOTE },
    { case_id: first.id, variant: index.arms[0].variant, ...runOf(first), assertion: detail(first.id).checks[0].name, verdict: "pass" },
    { case_id: first.id, variant: index.arms[1].variant, ...runOf(first), assertion: detail(first.id).checks[0].name, note: "about the other one" },
    { case_id: second.id, variant: index.arms[0].variant, ...runOf(second), verdict: "fail" },
  ];
  assert.deepEqual(file.entries.filter((entry) => [first.id, second.id].includes(entry.case_id)), expected);
  const suite = index.cases.map((item) => item.id), places = file.entries.map((entry) => suite.indexOf(entry.case_id));
  assert.deepEqual(places, [...places].sort((a, b) => a - b));
  assert.equal(file.entries.length, given.length + 4);
  // its words stay when it goes
  assert.equal(await page.locator("#toast").textContent(), `feedback.json: ${given.length + 4} verdicts. Put it beside benchmark.json.`);
  // what the page wrote is read by the program that the page names
  if (process.env.SKILL_LIFT_PROGRAM) {
    const folder = mkdtempSync(join(tmpdir(), "feedback-")), place = join(folder, "feedback.json");
    writeFileSync(place, text);
    const report = pagePath("demo").replace(/html$/, "json");
    const said = JSON.parse(execFileSync(process.env.SKILL_LIFT_PROGRAM, ["error-analysis", "--benchmark", report, "--feedback", place, "--format", "json"], { encoding: "utf8", maxBuffer: 1 << 28 }));
    assert.equal(said.feedback.run_entries + said.feedback.check_entries, file.entries.length);
    rmSync(folder, { recursive: true });
  }
  await page.context().close();
});

test("27 earlier entries are filled in and say where they are from; a newer draft wins", async () => {
  const path = variantPath("demo", () => {});
  const { page } = await open(browser, path, { hash: "#case=mixed-eol" });
  assert.equal(await page.locator("#case input[name=verdict]:checked").getAttribute("value"), "pass");
  assert.equal(await page.locator("#note").inputValue(), "Fine, \"quoted\"\nand two lines.");
  assert.equal(await page.locator("#case .fb [role=status]").innerText(), "from feedback.json");
  await page.keyboard.press("3");
  assert.equal(await page.locator("#case .fb [role=status]").innerText(), "Saved in this browser");
  await page.reload();
  assert.equal(await page.locator("#case input[name=verdict]:checked").getAttribute("value"), "unsure");
  assert.equal(JSON.parse(await downloaded(page)).entries[0].verdict, "unsure");
  await page.getByRole("button", { name: "Clear" }).click();
  assert.equal(await page.locator("#note").inputValue(), "");
  await page.reload();
  assert.equal(await page.locator("#case input[name=verdict]:checked").count(), 0);
  assert.equal(await page.locator("#reviewed").innerText(), "0 of 24 reviewed");
  await page.getByRole("button", { name: "Download feedback.json" }).click();
  assert.equal(await page.locator("#toast").textContent(), "No verdicts yet.");
  await page.context().close();
});

test("27 two open pages: what the other one saved is not lost", async () => {
  const { page, context, address } = await open(browser, variantPath("demo", () => {}), { hash: "#case=ragged-rows" });
  const other = await context.newPage();
  await other.goto(address + "#case=ja-shift-jis");
  await page.keyboard.press("1");
  await other.keyboard.press("2");
  // the two may be processes of their own: what one wrote reaches the other a little later
  const kept = () => other.evaluate(() => Object.keys(localStorage).filter((key) => /:[0-9a-f]{16}$/.test(key)).flatMap((key) => Object.values(JSON.parse(localStorage.getItem(key))).map((draft) => draft.case_id)).sort());
  await settles(kept, (ids) => assert.deepEqual(ids, ["ja-shift-jis", "ragged-rows"]));
  await other.reload();
  const entries = JSON.parse(await downloaded(other)).entries;
  assert.deepEqual(["ragged-rows", "ja-shift-jis"].map((id) => entries.find((entry) => entry.case_id === id)?.verdict), ["pass", "fail"]);
  await context.close();
});

test("27 storage that holds what no page wrote: the page opens, and keeps what is said", async () => {
  for (const found of ["null", "5", "[]", "{\"a\":null}", "{\"a\":\"b\"}", "{ not JSON"]) {
    const { page, messages } = await open(browser, variantPath("demo", () => {}), { hash: "#case=ragged-rows" });
    await page.evaluate((text) => { localStorage.setItem(`skill-lift:${JSON.parse(document.getElementById("sl-index").textContent).report_sha256.slice(0, 16)}`, text); }, found);
    await page.reload();
    await page.keyboard.press("1");
    await page.reload();
    assert.equal(await page.locator("#case input[name=verdict]:checked").getAttribute("value"), "pass", found);
    assert.deepEqual(messages, [], found);
    await page.context().close();
  }
});

test("27 refused storage: the text is kept until the page is closed, and closing asks", async () => {
  const init = () => { Object.defineProperty(globalThis, "localStorage", { get() { throw new DOMException("refused", "SecurityError"); } }); };
  const { page, messages } = await open(browser, "demo", { hash: "#case=" + encodeURIComponent(readIslands(pagePath("demo")).index.cases[0].id), init });
  await page.locator("#note").fill("kept");
  assert.equal(await page.locator("#case .fb [role=status]").innerText(), "Kept until you close this page: download it");
  assert.ok(JSON.parse(await downloaded(page)).entries.some((entry) => entry.note === "kept"));
  const asked = await page.evaluate(() => { const event = new Event("beforeunload", { cancelable: true }); dispatchEvent(event); return event.defaultPrevented; });
  assert.equal(asked, true);
  assert.deepEqual(messages, []);
  await page.context().close();
});

test("the skill-creator shape: run ids and notes; complete only when every run has an entry", async () => {
  const path = variantPath("sparse", ({ index }) => { index.feedback_format = "skill-creator"; index.cases = index.cases.slice(2); for (const item of index.cases) for (const run of item.runs) run[7] = `eval-${item.id}-${run[0] ? "without_skill" : "with_skill"}`; });
  const { page } = await open(browser, path, { hash: "#case=one-pair" });
  await page.locator("#note").fill("a note");
  let file = JSON.parse(await downloaded(page));
  assert.deepEqual(file, { reviews: [{ run_id: "eval-one-pair-with_skill", feedback: "a note", timestamp: file.reviews[0].timestamp }], status: "in_progress" });
  assert.match(file.reviews[0].timestamp, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  for (const id of ["one-pair", "other-pair"]) for (const arm of ["0", "1"]) {
    await visit(page, "#case=" + id);
    await page.getByLabel("Which answer").selectOption(arm);
    await page.locator("#case input[value=fail]").check();
  }
  file = JSON.parse(await downloaded(page));
  assert.equal(file.status, "complete");
  assert.deepEqual(file.reviews.map((review) => review.feedback), ["a note", "wrong", "wrong", "wrong"]);
  await page.context().close();
});

// A server with the rules of serve mode, as far as the page meets them.
async function serve(answer) {
  const path = variantPath("demo", ({ index }) => { index.served = { token: "secret-token" }; }), posts = [];
  const server = createServer((request, response) => {
    if (request.method === "GET" && request.url === "/") return response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(readFileSync(path));
    if (request.method !== "POST" || request.url !== "/feedback") return response.writeHead(404).end();
    let body = "";
    request.on("data", (data) => { body += data; });
    request.on("end", () => {
      posts.push({ headers: request.headers, body: JSON.parse(body) });
      answer(response, posts.length);
    });
    return null;
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const running = { posts, url: `http://127.0.0.1:${server.address().port}/`, close: () => { server.closeAllConnections(); server.close(); } };
  servers.push(running);
  return running;
}

test("28 served: one post per changed entry after 800 ms; the states are said", async () => {
  let release;
  const server = await serve((response) => { release = () => response.writeHead(204).end(); });
  const { page, messages } = await open(browser, null, { url: "about:blank", offline: false });
  // the clock of the page stands still until it is moved: how fast this machine types is no matter
  await page.clock.install();
  await page.goto(server.url + "#case=ragged-rows");
  await page.clock.pauseAt(Date.now() + 3_600_000);
  const status = () => page.locator("#case .fb [role=status]").innerText();
  for (const letter of "three words here") {
    await page.locator("#note").pressSequentially(letter);
    await page.clock.runFor(799);
  }
  assert.equal(await status(), "Saving…");
  assert.equal(server.posts.length, 0, "not while somebody types");
  await page.clock.runFor(1);
  await settles(() => server.posts.length, (number) => assert.equal(number, 1));
  assert.equal(await status(), "Saving…");
  release();
  await settles(status, (words) => assert.equal(words, "Saved to feedback.json"));
  assert.deepEqual(server.posts[0].body, { case_id: "ragged-rows", variant: "with_skill", run_number: 1, model: "claude-sonnet-4.5", note: "three words here" });
  assert.equal(server.posts[0].headers["content-type"], "application/json");
  assert.equal(server.posts[0].headers["x-skill-lift-token"], "secret-token");
  assert.equal(server.posts[0].headers.origin, server.url.slice(0, -1));
  await page.keyboard.press("Escape");
  await page.keyboard.press("2");
  await page.keyboard.press("j");
  await settles(() => server.posts.length, (number) => assert.equal(number, 2, "sent on leaving the case, by no clock"));
  assert.equal(server.posts[1].body.verdict, "fail");
  release();
  assert.equal(await page.locator("#reviewed").innerText(), "2 of 24 reviewed");
  assert.deepEqual(messages, []);
  assert.equal(await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("skill-lift:b")).length), 0, "the server keeps it, not the browser");
  await page.context().close();
  server.close();
});

test("28 served: a refusal is said, the text is kept, Try again sends it", async () => {
  const server = await serve((response, number) => (number < 2 ? response.writeHead(400, { "content-type": "application/json" }).end('{"error":"the note is too long"}') : response.writeHead(204).end()));
  const { page } = await open(browser, null, { url: server.url, hash: "#case=ragged-rows", offline: false });
  await page.locator("#note").fill("a note");
  await page.waitForFunction(() => document.querySelector("#case .fb [role=status]").textContent.startsWith("Not saved"));
  assert.equal(await page.locator("#case .fb [role=status]").innerText(), "Not saved: the note is too long. Your text is kept here. Try again");
  assert.equal(await page.locator("#note").inputValue(), "a note");
  const asked = await page.evaluate(() => { const event = new Event("beforeunload", { cancelable: true }); dispatchEvent(event); return event.defaultPrevented; });
  assert.equal(asked, true, "leaving with unsaved text asks");
  await visit(page, "#cases");
  await visit(page, "#case=ragged-rows");
  assert.equal(await page.locator("#note").inputValue(), "a note");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.waitForFunction(() => document.querySelector("#case .fb [role=status]").textContent === "Saved to feedback.json");
  assert.equal(server.posts.length, 2);
  server.close();
  await page.locator("#note").fill("another");
  await page.waitForFunction(() => document.querySelector("#case .fb [role=status]").textContent.startsWith("Not saved"));
  assert.equal(await page.locator("#case .fb [role=status]").innerText(), "Not saved: the server does not answer. Your text is kept here. Try again");
  await page.context().close();
});
