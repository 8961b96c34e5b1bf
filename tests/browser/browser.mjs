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

// Goes to an address inside the open page and waits until it is drawn.
export async function visit(page, hash) {
  await page.evaluate((address) => { location.hash = address; }, hash);
  await page.waitForFunction((address) => location.hash === address, hash);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}
