// Where the pages under test come from: a directory of pages that `skill-lift render-viewer` wrote
// (SKILL_LIFT_PAGES), or pages built here from the templates and from data written by hand.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as fixtures from "./fixtures.mjs";

const TEMPLATES = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "templates", "review");
export const SCRIPT_PARTS = ["formats", "text", "state", "list", "case", "feedback", "main"];
export const PAGES = ["demo", "hostile", "big", "sparse", "rtl-cjk"];

const template = (name) => readFileSync(join(TEMPLATES, name), "utf8");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

export function scriptText() {
  return `"use strict";\n(() => {\n${SCRIPT_PARTS.map((part) => template(`script/${part}.js`)).join("\n")}})();\n`;
}
export const themeText = () => template("theme.js");
export const styleText = () => template("style.css");

const ESCAPED = /[<>&\u2028\u2029\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}]/gu;
const escapeJson = (value) => JSON.stringify(value).replace(ESCAPED, (found) => found.split("").map((unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0")).join(""));
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" };
const escapeHtml = (text) => String(text).replace(/[&<>"']/g, (found) => ENTITIES[found]);

// The shell uses few constructs of the template language; this renders those and refuses the rest.
function renderShell(values) {
  const fill = (text, scope) => text.replace(/\{\{ ([\w.]+)(\|safe)? \}\}/g, (_, path, safe) => {
    const value = path.split(".").reduce((object, key) => object?.[key], scope);
    if (value == null) throw new Error(`the shell needs ${path}`);
    return safe ? value : escapeHtml(value);
  });
  const page = template("shell.html")
    .replace(/\{% include "review\/overview\.html" %\}/, () => values.overview)
    .replace(/\{% if (\w+) %\}([^]*?)\{% endif %\}/g, (_, name, body) => (values[name].length ? body : ""))
    .replace(/\{% for (\w+) in (\w+) %\}([^]*?)\{% endfor %\}/g, (_, name, items, body) => values[items].map((item) => fill(body, { ...values, [name]: item })).join(""));
  return fill(page, values);
}

export function renderPage({ index, chunks, overview, subtitle, footer_notes }) {
  const parts = { theme_js: themeText(), style_css: styleText(), script_js: scriptText() };
  const csp = `default-src 'none'; script-src ${hash(parts.theme_js)} ${hash(parts.script_js)}; style-src ${hash(parts.style_css)}; img-src data:; `
    + `connect-src ${index.served ? "'self'" : "'none'"}; form-action 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'`;
  const islands = [["sl-index", index], ...chunks.map((chunk, number) => ["sl-c" + number, chunk])];
  return renderShell({
    ...parts, csp, overview, skill: index.skill, subtitle, cases_count: index.cases.length, footer_notes,
    title: `${index.headline} · ${index.skill} · skill-lift`,
    islands: islands.map(([id, value]) => ({ id, json: typeof value === "string" ? value : escapeJson(value) })),
  });
}

let directory = null;
export const given = process.env.SKILL_LIFT_PAGES || null;

// The path of a page. A page that is missing from a given directory is a failure.
export function pagePath(name) {
  if (given) {
    const path = join(given, name + ".html");
    if (!existsSync(path)) throw new Error(`SKILL_LIFT_PAGES has no ${name}.html`);
    return path;
  }
  directory ??= mkdtempSync(join(tmpdir(), "review-page-"));
  const path = join(directory, name + ".html");
  if (!existsSync(path)) writeFileSync(path, renderPage(fixtures.page(name)));
  return path;
}

// The data of a page that is always made here, for what no given page need hold.
export const fixtureOf = (name) => fixtures.page(name);

// A page that differs from a fixture: for states that no report can be asked for.
export function variantPath(name, change) {
  const page = structuredClone(fixtures.page(name));
  change(page);
  const folder = mkdtempSync(join(tmpdir(), "review-page-")), path = join(folder, "page.html");
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, renderPage(page));
  return path;
}

// The data of a page, read from its islands.
export function readIslands(path) {
  const islands = {};
  for (const [, id, json] of readFileSync(path, "utf8").matchAll(/<script type="application\/json" id="([^"]+)">([^]*?)<\/script>/g)) islands[id] = JSON.parse(json);
  const index = islands["sl-index"];
  // what a run used may stand as numbers of words that many runs share; the first word has the number 1
  for (const { words, cases } of Object.entries(islands).filter(([id]) => id !== "sl-index").map(([, chunk]) => chunk)) {
    for (const run of Object.values(cases).flatMap(({ runs }) => runs)) {
      run.telemetry = (run.telemetry || []).map((row) => (Array.isArray(row) ? { label: words[row[0] - 1], unit: words[row[1] - 1], value: row[2], source: words[row[3] - 1], reason: words[row[4] - 1], currency: words[row[5] - 1] } : row));
    }
  }
  return { index, chunk: (number) => islands["sl-c" + number], detail: (id) => islands["sl-c" + index.cases.find((item) => item.id === id).chunk].cases[id],
    texts: (id) => islands["sl-c" + index.cases.find((item) => item.id === id).chunk].texts };
}
