// The browser and a page in it, with everything recorded that a page must not do.
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { pagePath } from "./pages.mjs";

const EXECUTABLE = process.env.CHROMIUM || "/usr/bin/chromium";
const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export const startBrowser = (more = []) => chromium.launch({ executablePath: EXECUTABLE, headless: true, args: [...ARGUMENTS, ...more] });

// Opens a page by its name or path. `requests` and `messages` grow while it is open.
export async function open(browser, name, { hash = "", width = 1280, height = 800, theme = "light", script = true, offline = true, init = null, url = null } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, javaScriptEnabled: script, offline, acceptDownloads: true, reducedMotion: "reduce" });
  const page = await context.newPage(), requests = [], messages = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => messages.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => messages.push(`error: ${error.message}`));
  if (init) await page.addInitScript(init);
  const path = name && (name.includes("/") ? name : pagePath(name));
  const address = url || pathToFileURL(path).href;
  await page.goto(address + hash, { waitUntil: "load" });
  return { page, context, requests, messages, address, path };
}

// Goes to an address inside the open page; when it resolves, the page has drawn it: the page listens for the same event,
// and listened first.
export async function visit(page, hash) {
  await page.evaluate((address) => new Promise((done) => {
    const before = location.href;
    addEventListener("popstate", () => requestAnimationFrame(() => requestAnimationFrame(done)), { once: true });
    location.hash = address;
    if (location.href === before) done();
  }), hash);
}

// Reads until what is read passes the check: for what a page does only after the action of a test has ended.
export async function settles(read, check, within = 60_000) {
  for (const started = Date.now(); ;) {
    const found = await read();
    try {
      check(found);
      return found;
    } catch (error) {
      if (Date.now() - started > within) throw error;
    }
    await new Promise((next) => setTimeout(next, 20));
  }
}

// Opens everything that is folded. The page fills some of it in the event of opening, which comes after the opening.
export const unfold = (page, within = "main") => page.evaluate(async (selector) => {
  for (let folded; (folded = [...document.querySelectorAll(`${selector} details:not([open])`)]).length;) {
    await Promise.all(folded.map((details) => new Promise((done) => {
      details.addEventListener("toggle", done, { once: true });
      details.open = true;
    })));
  }
}, within);

// What the page has spent: processor time of its main thread in ms, in parts, and its heap in bytes. Other work on the machine
// does not count, so that a bound on it holds on a busy one, too.
export async function workOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return Object.fromEntries(metrics.map(({ name, value }) => (name.endsWith("Duration") ? [name.slice(0, -"Duration".length), value * 1000] : [name, value])));
  };
}
