// Checks 2 to 4, of pages that the program wrote: the first screen, its words for every verdict, and the same figures in
// every output.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { open, startBrowser } from "./browser.mjs";
import { PAGES, given } from "./pages.mjs";
import { VERDICTS } from "./verdicts.mjs";

let browser;

const plain = (text) => text.replaceAll("&lt;", "<").replaceAll("\u00a0", " ").replace(/\s+/g, " ").trim();

async function firstScreen(name) {
  const { page } = await open(browser, name);
  const found = await page.evaluate(() => {
    const text = (selector) => document.querySelector(`#overview ${selector}`)?.textContent || "", bottom = (element) => element.getBoundingClientRect().bottom;
    const facts = [...document.querySelectorAll("#overview .facts > div")].map((fact) => fact.textContent);
    return { headline: text("h1"), lead: text(".lead"), grade: text(".facts .v"), sure: facts[0], cost: facts[1], moves: text("#moves + p"), leftOut: [...document.querySelectorAll("#overview h2")].find((heading) => heading.textContent === "What was left out?").nextElementSibling.textContent,
      models: [...document.querySelectorAll("#overview .lift tbody tr:not(.all)")].map((row) => [...row.cells].map((cell) => cell.textContent.trim())),
      bottoms: Object.fromEntries(["h1", ".lead", ".lift", ".eyes .btn"].map((selector) => [selector, bottom(document.querySelector(`#overview ${selector}`))]).concat([...document.querySelectorAll("#overview .facts .v")].map((value, i) => [`fact ${i + 1}`, bottom(value)]))) };
  });
  await page.context().close();
  return Object.fromEntries(Object.entries(found).map(([key, value]) => [key, typeof value === "string" ? plain(value) : value]));
}

// The figures of a text, as `lift …, 95% interval …, p = …` stands in it.
function figuresOf(text) {
  const found = /lift (?:of )?([+\u2212]?[\d.]+ pp), (95% interval [+\u2212][\d.]+ to [+\u2212][\d.]+ pp|no 95% interval from a single case|no interval), (p [=<] [\d.]*\d)/.exec(plain(text).replaceAll("*", ""));
  return found && found.slice(1);
}
// Pass rates without and with the skill; one figure when they are equal.
function ratesOf(text) {
  const line = plain(text).replaceAll("*", ""), found = /[Pp]ass rate (?:rises from |falls from )?([<>]?\d+%)(?: → | to )([<>]?\d+%)/.exec(line) || /[Pp]ass rate (?:is )?([<>]?\d+%) in both arms/.exec(line);
  return found && found.slice(1);
}

// pages made by hand have no other outputs to compare with
if (given) {
  before(async () => { browser = await startBrowser(); });
  after(() => browser.close());

  const output = (name, ending) => readFileSync(join(given, `${name}.${ending}`), "utf8");
  const names = [...PAGES, ...VERDICTS.map(({ row }) => `verdict-${row}`)];

  for (const name of PAGES) {
    test(`2 ${name}: headline, lead, lift, facts and the button lie on the first screen of 1280 by 800`, async () => {
      const { bottoms } = await firstScreen(name);
      assert.equal(Object.keys(bottoms).length, 6);
      for (const [what, bottom] of Object.entries(bottoms)) assert.ok(bottom > 0 && bottom <= 800, `${what} ends at ${bottom} px`);
    });
  }

  for (const verdict of VERDICTS) {
    test(`3 row ${verdict.row}, ${verdict.name}: headline, lead and grade`, async () => {
      const found = await firstScreen(`verdict-${verdict.row}`), { headline, second, grade, sure } = verdict.says;
      assert.equal(found.headline, headline);
      assert.ok(found.lead.endsWith(second), found.lead);
      const figures = figuresOf(found.lead);
      if (figures) assert.match(found.lead, /^Pass rate (rises from \d+% to \d+%|falls from \d+% to \d+%|is \d+% in both arms): a lift of /);
      else assert.equal(found.lead, second);
      assert.equal(found.grade, grade);
      assert.ok(found.sure.includes(sure), found.sure);
    });
  }

  for (const name of names) {
    test(`4 ${name}: page, terminal, Markdown and job summary show the same figures`, async () => {
      const found = await firstScreen(name), outputs = { terminal: output(name, "txt"), markdown: output(name, "md"), "job summary": output(name, "github.md") };
      const report = JSON.parse(output(name, "json")).inference.overall;
      assert.equal(figuresOf(found.lead) == null, report.verdict.code === "nothing_paired");
      for (const [where, text] of Object.entries(outputs)) {
        const line = plain(text);
        assert.deepEqual(figuresOf(text), figuresOf(found.lead), where);
        assert.deepEqual(ratesOf(text), ratesOf(found.lead), where);
        assert.ok(line.toLowerCase().includes(found.headline.toLowerCase().replace(/\.$/, "")), `${where}: ${found.headline}`);
        assert.ok(line.includes(found.grade), `${where}: ${found.grade}`);
        for (const sentence of found.sure.match(/(?:A skill without effect|Exact test|A true lift)[^]*?(?:evals\.|moved\.|unnoticed\.)/g) || []) assert.ok(line.includes(sentence), `${where}: ${sentence}`);
        for (const row of found.models) for (const cell of row.filter(Boolean)) assert.ok(line.includes(plain(cell)), `${where}: ${cell}`);
      }
      const counts = /[\d,]+ better, [\d,]+ the same, [\d,]+ worse/.exec(found.moves), blocked = /[\d,]+ of [\d,]+ pairs? (is|are) blocked/.exec(found.leftOut);
      if (report.verdict.code !== "nothing_paired") assert.ok(counts, found.moves);
      for (const part of [counts, blocked].filter(Boolean)) for (const where of ["terminal", "markdown"]) assert.ok(plain(outputs[where]).includes(part[0]), `${where}: ${part[0]}`);
    });
  }

  test("4 the report itself has the figures that are shown", async () => {
    const { lead } = await firstScreen("demo"), { test: exact, interval, verdict } = JSON.parse(output("demo", "json")).inference.overall;
    const [lift, limits, p] = figuresOf(lead), points = (share) => `${share < 0 ? "\u2212" : "+"}${Math.abs(share * 100).toFixed(1)}`;
    const estimate = exact?.estimate ?? JSON.parse(output("demo", "json")).inference.overall.estimate;
    assert.equal(lift, `${points(estimate)} pp`);
    assert.equal(limits, `95% interval ${points(interval.lower)} to ${points(interval.upper)} pp`);
    assert.equal(p, `p = ${verdict.p.toFixed(3)}`);
  });
}
