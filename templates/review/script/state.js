// ---- Data
const index = JSON.parse(byId("sl-index").textContent);
const cases = index.cases, positionOf = new Map(cases.map((item, position) => [item.id, position]));
const caseOf = (id) => cases[positionOf.get(id)];
const CHUNKS_KEPT = 4, chunks = new Map();

// What a run used stands in the page as numbers of words that many runs share; the first word has the number 1.
function quantity(row, words) {
  if (!Array.isArray(row)) return row;
  const word = (at) => words?.[at - 1], [label, unit, value, source, reason, currency] = row;
  return { label: word(label), unit: word(unit), value, source: word(source), reason: word(reason), currency: word(currency) };
}

// The part of the data that holds a case, parsed on demand; null when it cannot be read.
function chunk(number) {
  if (!chunks.has(number)) {
    let value = null;
    try {
      value = JSON.parse(byId("sl-c" + number).textContent);
      for (const { runs } of Object.values(value.cases)) for (const run of runs) run.telemetry = run.telemetry.map((row) => quantity(row, value.words));
    } catch { value = null; /* the page says so and keeps working */ }
    if (chunks.size >= CHUNKS_KEPT) chunks.delete(chunks.keys().next().value);
    chunks.set(number, value);
  }
  return chunks.get(number);
}

const modelName = (model) => index.models[model] || "no model named";
const armWords = (arm) => (/^with/.test(index.arms[arm].words) ? index.arms[arm].words : "with " + index.arms[arm].words);
const shortArm = (arm) => (index.arms[arm].variant === "without_skill" ? "Without" : index.arms[arm].variant === "with_skill" ? "With" : index.arms[arm].name);

// A run of the index: [arm, model, repetition, status, passed, total, vetoed, name for reviews].
const summaryOf = (item, arm, model, repetition) => item.runs.find((run) => run[0] === arm && run[1] === model && run[2] === repetition);
const modelsOf = (item) => [...new Set(item.runs.map((run) => run[1]))].sort((a, b) => a - b);
const repetitionsOf = (item) => [...new Set(item.runs.map((run) => run[2]))].sort((a, b) => a - b);

// ---- Filters and order
const FILTERS = {
  all: ["All", () => true],
  eyes: ["Needs your eyes", (item) => item.queue != null],
  worse: ["Worse", (item) => item.lift < 0],
  better: ["Better", (item) => item.lift > 0],
  same: ["No change", (item) => item.lift === 0],
  blocked: ["Blocked", (item) => item.blocked > 0],
  unstable: ["Unstable", (item) => item.unstable],
  open: ["Not reviewed", (item) => !isReviewed(item.id)],
};

// What each order compares, the first key first. A case outside the queue comes after it; a missing value is always last.
const ORDERS = {
  eyes: [(item) => item.queue ?? 9, (item) => item.lift],
  lift: [(item) => item.lift],
  id: [(item) => item.id],
  with: [(item) => item.with],
  without: [(item) => item.without],
  cost: [(item) => item.cost && item.cost.delta],
};

function inOrder(list, sort, direction) {
  const compare = (a, b) => {
    for (const key of ORDERS[sort]) {
      const x = key(a), y = key(b);
      if (x == null || y == null) {
        if ((x == null) !== (y == null)) return x == null ? 1 : -1;
      } else if (x !== y) return (x < y ? -1 : 1) * direction;
    }
    return positionOf.get(a.id) - positionOf.get(b.id);
  };
  return [...list].sort(compare);
}

const queue = () => inOrder(cases.filter(FILTERS.eyes[1]), "eyes", 1);

// ---- The state is the address: nothing that a link cannot bring back
const state = {};
const DEFAULTS = { view: "overview", id: null, q: "", f: "all", s: "eyes", d: 1, m: null, r: null, a: null, show: "md", cmp: null };
const positive = (text) => (/^[1-9]\d{0,8}$/.test(text || "") ? Number(text) : null);

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1)), view = given.has("case") ? "case" : given.has("cases") ? "cases" : "overview";
  Object.assign(state, DEFAULTS, { view });
  if (view === "overview") return;
  state.q = given.get("q") || "";
  if (Object.hasOwn(FILTERS, given.get("f"))) state.f = given.get("f");
  if (Object.hasOwn(ORDERS, given.get("s"))) state.s = given.get("s");
  if (given.get("d") === "-1") state.d = -1;
  if (view === "cases") return;
  state.id = given.get("case");
  const item = caseOf(state.id);
  if (!item) return;
  const model = positive(given.get("m")), repetition = positive(given.get("r")), check = positive(given.get("a"));
  state.m = model && modelsOf(item).includes(model - 1) ? model - 1 : null;
  state.r = repetition && repetitionsOf(item).includes(repetition) ? repetition : null;
  state.a = check ? check - 1 : null;
  if (["raw", "diff"].includes(given.get("view"))) state.show = given.get("view");
  if (comparisons(item).some(({ key }) => key === given.get("cmp"))) state.cmp = given.get("cmp");
}

// What the answer with the skill can be compared with; the first one is the default and has no key.
function comparisons(item) {
  const list = [{ key: null, arm: 1, name: index.arms[1].name, short: shortArm(1) }];
  if (index.previous != null) list.push({ key: "prev", arm: 0, name: `${index.arms[0].name}, ${index.previous}`, short: index.previous });
  index.arms.forEach((arm, number) => {
    if (number > 1 && item.runs.some((run) => run[0] === number)) list.push({ key: arm.variant, arm: number, name: arm.name, short: arm.name });
  });
  return list;
}

const chosenModel = (item) => state.m ?? modelsOf(item)[0] ?? 0;
const chosenRepetition = (item) => state.r ?? repetitionsOf(item)[0] ?? 1;
const NO_CHOICE = { m: null, r: null, a: null };

function addressOf(change) {
  const next = { ...state, ...change };
  if (next.view === "overview") return "#overview";
  const parts = [next.view === "case" ? "case=" + encodeURIComponent(next.id) : "cases"];
  const add = (name, value, standard) => { if (value !== standard) parts.push(name + "=" + encodeURIComponent(value)); };
  add("q", next.q, "");
  add("f", next.f, "all");
  add("s", next.s, "eyes");
  add("d", next.d, 1);
  if (next.view === "case") {
    const item = caseOf(next.id);
    if (next.m != null && next.m !== (item && modelsOf(item)[0])) add("m", next.m + 1);
    if (next.r != null && next.r !== (item && repetitionsOf(item)[0])) add("r", next.r);
    if (next.a != null) add("a", next.a + 1);
    add("view", next.show, "md");
    add("cmp", next.cmp, null);
  }
  return "#" + parts.join("&");
}

// The place in the page belongs to the entry of the history, so that Back finds it again.
function rememberPlace() {
  history.replaceState({ top: scrollY, focus: document.activeElement?.dataset?.key || null }, "");
}

function go(change, replace) {
  const address = addressOf(change);
  if (replace) history.replaceState(history.state, "", address);
  else if (address !== location.hash) {
    rememberPlace();
    history.pushState(null, "", address);
  }
  readAddress();
  render();
}

// ---- Search. `text:word` looks into prompts and answers, part after part, and stops when the query changes.
const textSearch = { words: "", hits: new Set(), done: true, at: 0 };

function queryWords() {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  return { words: words.filter((word) => !word.startsWith("text:")), inText: words.filter((word) => /^text:./.test(word)).map((word) => word.slice(5)) };
}

const searchable = new Map();
function searchText(item) {
  if (!searchable.has(item.id)) {
    const parts = [item.id, item.title, item.domain, item.difficulty, item.split, ...(item.tags || []), ...item.flags.map((flag) => flag[0])];
    searchable.set(item.id, parts.filter(Boolean).join("\n").toLowerCase());
  }
  return searchable.get(item.id);
}

function caseHolds(part, id, words) {
  const item = part && part.cases && part.cases[id];
  if (!item) return false;
  const texts = new Set([...(item.turns || []), ...item.runs.flatMap((run) => (run.answer || []).map((file) => file.text))]);
  const all = [...texts].map((number) => part.texts[number]?.text.toLowerCase() || "");
  return words.every((word) => all.some((text) => text.includes(word)));
}

async function searchTexts(words) {
  const key = words.join("\n");
  if (textSearch.words === key) return;
  const numbers = [...new Set(cases.map((item) => item.chunk))];
  Object.assign(textSearch, { words: key, hits: new Set(), done: !key, at: 0, of: numbers.length });
  for (const number of key ? numbers : []) {
    textSearch.at++;
    searchProgress();
    await new Promise((next) => setTimeout(next));
    if (textSearch.words !== key) return;
    const part = chunk(number);
    for (const item of cases) if (item.chunk === number && caseHolds(part, item.id, words)) textSearch.hits.add(item.id);
  }
  textSearch.done = true;
  if (key) searchProgress();
}

// The cases of the list: filtered, searched, in order.
function shownCases() {
  const { words, inText } = queryWords();
  searchTexts(inText);
  const fits = (item) => FILTERS[state.f][1](item) && words.every((word) => searchText(item).includes(word)) && (!inText.length || textSearch.hits.has(item.id));
  return inOrder(cases.filter(fits), state.s, state.d);
}
