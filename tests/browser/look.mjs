// Writes the pages and screenshots of them for a person to look at: node look.mjs <directory>
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { open, startBrowser, visit } from "./browser.mjs";
import { PAGES, pagePath, readIslands } from "./pages.mjs";

const target = process.argv[2];
if (!target) throw new Error("usage: node look.mjs <directory>");
mkdirSync(target, { recursive: true });
const browser = await startBrowser();
for (const name of PAGES) {
  copyFileSync(pagePath(name), join(target, name + ".html"));
  const { index } = readIslands(pagePath(name));
  for (const width of [1280, 420]) for (const theme of ["light", "dark"]) {
    const { page } = await open(browser, name, { width, height: 800, theme });
    const first = encodeURIComponent(index.cases[0].id);
    for (const [view, hash] of [["overview", "#overview"], ["cases", "#cases"], ["case", `#case=${first}`], ["raw", `#case=${first}&a=1&view=raw`], ["diff", `#case=${first}&view=diff`]]) {
      await visit(page, hash);
      await page.screenshot({ path: join(target, `${name}-${view}-${width}-${theme}.png`), fullPage: name !== "big" });
    }
    await page.close();
  }
}
await browser.close();
