// Writes suites and trees of runs, and the pages, reports and summaries that the program makes of them:
// node make-pages.mjs <program> <directory>
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { RENAMED, Tree, big, hostile, rtlCjk, sparse } from "./trees.mjs";
import { VERDICTS, verdictTree } from "./verdicts.mjs";

const [program, directory] = process.argv.slice(2).map((path) => resolve(path));
if (!directory) throw new Error("usage: node make-pages.mjs <program> <directory>");
const demo = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "datasets", "demo");
mkdirSync(directory, { recursive: true });

const run = (folder, ...words) => execFileSync(program, words, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "inherit"], env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8" } });

// The page of a folder with `evals` and `runs`, and beside it what the other outputs say.
function make(name, folder, { options = [], change = null } = {}) {
  const place = (ending) => join(directory, `${name}.${ending}`), suite = join("evals", "shared-benchmark.json");
  const table = run(folder, "benchmark", suite, "--runs", "runs", "--out", place("json"), "--format", "table", ...options);
  if (change) writeFileSync(place("json"), change(readFileSync(place("json"), "utf8")));
  run(folder, "render-viewer", "--benchmark", place("json"), "--runs", "runs", "--suite", suite, "--out", place("html"), "--quiet");
  writeFileSync(place("txt"), table);
  for (const [format, ending] of [["markdown", "md"], ["github", "github.md"]]) writeFileSync(place(ending), run(folder, "report", "--benchmark", place("json"), "--format", format));
}

function inNewFolder(name, write, more) {
  const folder = join(directory, "trees", name);
  rmSync(folder, { recursive: true, force: true });
  write(new Tree(folder));
  make(name, folder, more);
}

const renamed = (text) => text.replaceAll(`"${RENAMED.from}"`, JSON.stringify(RENAMED.to));
make("demo", demo);
inNewFolder("hostile", hostile, { options: ["--judge-results", "verdicts.json"], change: renamed });
inNewFolder("sparse", sparse);
inNewFolder("rtl-cjk", rtlCjk);
inNewFolder("big", big);
for (const verdict of VERDICTS) inNewFolder(`verdict-${verdict.row}`, (tree) => verdictTree(tree, verdict), { options: verdict.options });
