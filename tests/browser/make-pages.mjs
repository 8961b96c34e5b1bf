// Writes suites and trees of runs, and the pages, reports and summaries that the program makes of them:
// node make-pages.mjs <program> <directory>
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { SKILLS, reportWithParts, skillTrees, triggerReport } from "./skills.mjs";
import { RENAMED, Tree, big, hostile, rtlCjk, sparse } from "./trees.mjs";
import { VERDICTS, verdictTree } from "./verdicts.mjs";

const [program, directory] = process.argv.slice(2).map((path) => resolve(path));
if (!directory) throw new Error("usage: node make-pages.mjs <program> <directory>");
const demo = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "datasets", "demo");
mkdirSync(directory, { recursive: true });

const execute = promisify(execFile);
const run = async (folder, ...words) => {
  const { stdout, stderr } = await execute(program, words, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28, env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8" } });
  process.stderr.write(stderr);
  return stdout;
};

// The page of a folder with `evals` and `runs`, and beside it what the other outputs say.
async function make(name, folder, { options = [], change = null } = {}) {
  const place = (ending) => join(directory, `${name}.${ending}`), suite = join("evals", "shared-benchmark.json");
  writeFileSync(place("txt"), await run(folder, "benchmark", suite, "--runs", "runs", "--out", place("json"), "--format", "table", ...options));
  if (change) writeFileSync(place("json"), change(readFileSync(place("json"), "utf8")));
  await run(folder, "render-viewer", "--benchmark", place("json"), "--runs", "runs", "--suite", suite, "--out", place("html"), "--quiet");
  for (const [format, ending] of [["markdown", "md"], ["github", "github.md"]]) writeFileSync(place(ending), await run(folder, "report", "--benchmark", place("json"), "--format", format));
}

async function makeTree(name, write, more) {
  const folder = join(directory, "trees", name);
  rmSync(folder, { recursive: true, force: true });
  write(new Tree(folder));
  await make(name, folder, more);
}

// The page of a report of several skills, and one of a report with ablations beside trigger runs.
async function makeSkills() {
  const folder = join(directory, "trees", "skills"), of = (path) => SKILLS.map((skill) => join(skill, path));
  rmSync(folder, { recursive: true, force: true });
  skillTrees(folder);
  await run(folder, "aggregate", ...of("evals/shared-benchmark.json"), "--runs-subdir", "runs", "--out", "skills.json", "--quiet");
  const beside = [...of("runs").flatMap((path) => ["--runs", path]), ...of("evals/shared-benchmark.json").flatMap((path) => ["--suite", path])];
  await run(folder, "render-viewer", "--benchmark", "skills.json", ...beside, "--out", join(directory, "skills.html"), "--quiet");
  for (const [name, report] of [["benchmark.json", reportWithParts()], ["triggers.json", triggerReport()]]) writeFileSync(join(folder, name), JSON.stringify(report));
  await run(folder, "render-viewer", "--benchmark", "benchmark.json", "--triggers", "triggers.json", "--out", join(directory, "parts.html"), "--quiet");
}

const renamed = (text) => text.replaceAll(`"${RENAMED.from}"`, JSON.stringify(RENAMED.to));
// the largest one beside all others: there are two cores
await Promise.all([makeTree("big", big), (async () => {
  await make("demo", demo);
  await makeTree("hostile", hostile, { options: ["--judge-results", "verdicts.json"], change: renamed });
  await makeTree("sparse", sparse);
  await makeSkills();
  await makeTree("rtl-cjk", rtlCjk);
  for (const verdict of VERDICTS) await makeTree(`verdict-${verdict.row}`, (tree) => verdictTree(tree, verdict), { options: verdict.options });
})()]);
