// ---- Feedback: an entry per case, model, variant, run and check
const STORE = "skill-lift:" + index.report_sha256.slice(0, 16), SAVE_AFTER_MS = 800;
const entries = new Map(), unsaved = new Map(), forms = { arm: 0, about: "", status: null };
let storage = "Saved in this browser";
const reviewedIds = new Set();

const keyOf = (entry) => JSON.stringify([entry.case_id, entry.model || "", entry.variant, entry.run_number, entry.assertion || ""]);
const isReviewed = (id) => reviewedIds.has(id);

function countReviewed() {
  reviewedIds.clear();
  for (const entry of entries.values()) if ((entry.verdict || entry.note) && positionOf.has(entry.case_id)) reviewedIds.add(entry.case_id);
  byId("reviewed").textContent = `${count(reviewedIds.size)} of ${count(cases.length)} reviewed`;
}

// Drafts of this browser; where two pages wrote the same entry, the newer one counts. True when the browser holds all
// drafts of this page.
function mergeDrafts() {
  if (index.served) return true;
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem(STORE)) || {};
    for (const [key, draft] of Object.entries(kept)) if (!(entries.get(key)?.at >= draft.at)) entries.set(key, draft);
  } catch { /* refused or not ours: `saveDrafts` says so */ }
  return [...entries].every(([key, entry]) => !entry.at || kept[key]?.at >= entry.at);
}

function saveDrafts() {
  mergeDrafts();
  try {
    localStorage.setItem(STORE, JSON.stringify(Object.fromEntries([...entries].filter(([, entry]) => entry.at))));
  } catch { storage = "Kept until you close this page: download it"; }
}

// Pages of one browser may be processes of their own, and each reads what the others wrote a little late: a page that
// saved in between wrote without their drafts. Who finds drafts of its own gone puts them back.
function draftsChanged() {
  if (!mergeDrafts()) saveDrafts();
  countReviewed();
}

function loadFeedback() {
  for (const entry of index.feedback || []) entries.set(keyOf(entry), entry);
  mergeDrafts();
  countReviewed();
}

const atOf = (item) => ({ case_id: item.id, model: index.models[chosenModel(item)] || "", variant: (forms.arm === 1 && item.baseline) || index.arms[forms.arm].variant, run_number: chosenRepetition(item), assertion: forms.about });

function changeEntry(item, change) {
  const at = atOf(item), key = keyOf(at), entry = { ...entries.get(key), ...at, ...change, at: Date.now() };
  entries.set(key, entry);
  countReviewed();
  if (!index.served) saveDrafts();
  else if (entry.verdict || entry.note) {
    clearTimeout(unsaved.get(key)?.timer);
    unsaved.set(key, { state: "Saving…", timer: setTimeout(() => post(key), SAVE_AFTER_MS) });
  }
  feedbackStatus(key);
}

// The fields of one entry in the order of the file; empty ones are absent.
function written({ case_id, model, variant, run_number, assertion, note, verdict }) {
  const fields = { case_id, variant, run_number, model, assertion, note, verdict };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value));
}

async function post(key, leaving) {
  const sent = unsaved.get(key), entry = entries.get(key);
  clearTimeout(sent.timer);
  Object.assign(sent, { state: "Saving…", timer: null, sending: true });
  feedbackStatus(key);
  let reason = null;
  try {
    const answer = await fetch("/feedback", { method: "POST", keepalive: Boolean(leaving), body: JSON.stringify(written(entry)),
      headers: { "content-type": "application/json", "x-skill-lift-token": index.served.token } });
    if (!answer.ok) reason = (await answer.json().catch(() => ({}))).error || `the server answered ${answer.status}`;
  } catch { reason = "the server does not answer"; }
  if (unsaved.get(key) !== sent) return;
  if (reason) Object.assign(sent, { state: reason, failed: true, sending: false });
  else {
    unsaved.delete(key);
    entry.saved = true;
  }
  feedbackStatus(key);
}

function saveNow(leaving) {
  for (const [key, change] of unsaved) if (change.timer) post(key, leaving);
}

function feedbackStatus(key) {
  const item = caseOf(state.id), entry = entries.get(key), waits = unsaved.get(key);
  if (!forms.status || !item || keyOf(atOf(item)) !== key) return;
  const say = (...content) => replace(forms.status, content);
  if (waits?.failed) say(`Not saved: ${waits.state.replace(/\.$/, "")}. Your text is kept here. `, button("retry", "Try again", null, () => post(key), "btn sm"));
  else if (waits) say(waits.state);
  else if (!entry || !(entry.verdict || entry.note)) say("");
  else if (entry.saved) say("Saved to feedback.json");
  else say(entry.at ? storage : "from feedback.json");
}

const VERDICTS = [["pass", "right"], ["fail", "wrong"], ["unsure", "hard to say"]];

function feedbackBlock(item, data) {
  const at = atOf(item), entry = entries.get(keyOf(at)) || {}, redraw = () => keepFocus(shown.runs, () => section.replaceWith(feedbackBlock(item, data)));
  const choice = (key, options, chosen, set, label) => {
    const select = h("select", { "data-key": key, "aria-label": label, change: () => { set(select.value); redraw(); } }, options.map(([value, name]) => h("option", { value, selected: value === chosen }, name)));
    return select;
  };
  const arms = index.arms.map((arm, number) => [String(number), armWords(number)]);
  const note = h("textarea", { id: "note", dir: "auto", "data-key": "note", placeholder: "What is right or wrong about it? One problem per line helps the next iteration.", input: () => changeEntry(item, { note: note.value.trim() ? note.value : "" }) });
  note.value = entry.note || "";
  const radios = VERDICTS.map(([verdict, name], number) => h("label", h("input", { type: "radio", name: "verdict", value: verdict, "data-key": "verdict " + verdict, checked: entry.verdict === verdict,
    change: () => changeEntry(item, { verdict }) }), name, " ", h("kbd", { "aria-hidden": "true" }, number + 1)));
  const clear = index.served ? null : button("clear", "Clear", null, () => { changeEntry(item, { verdict: "", note: "" }); redraw(); }, "btn sm");
  forms.status = h("span.muted.small", { role: "status" });
  const section = block("Your verdict", null, h("form.fb", { submit: (event) => event.preventDefault() },
    h("div.row", h("span.muted", "The answer"), choice("arm", arms, String(forms.arm), (value) => { forms.arm = Number(value); }, "Which answer"), h("span.muted", "about"),
      choice("about", [["", "whole answer"], ...(data?.checks || []).map((check) => [check.name, check.name])], forms.about, (value) => { forms.about = value; }, "About"),
      h("fieldset", h("legend.vh", `The answer ${armWords(forms.arm)} is`), h("span.muted", { "aria-hidden": "true" }, "is"), radios)),
    h("label.small", { for: "note" }, "Note"), note,
    h("div.row", button("download", "Download feedback.json", null, download, "btn sm"), clear, forms.status)));
  section.classList.add("feedback");
  feedbackStatus(keyOf(at));
  return section;
}

// Entries in the order of the suite, then model, variant, run and check.
function sortedEntries() {
  const variants = index.arms.map((arm) => arm.variant), last = (number) => (number < 0 ? Infinity : number);
  const keys = [(entry) => positionOf.get(entry.case_id) ?? Infinity, (entry) => last(index.models.indexOf(entry.model || "")), (entry) => last(variants.indexOf(entry.variant)),
    (entry) => entry.run_number, (entry) => entry.assertion || ""];
  const given = [...entries.values()].filter((entry) => entry.verdict || entry.note);
  return given.sort((a, b) => {
    for (const key of keys) if (key(a) !== key(b)) return key(a) < key(b) ? -1 : 1;
    return 0;
  });
}

// The shape of the other tool knows runs and notes only; a verdict without a note becomes its word.
function skillCreatorReviews(given) {
  const runs = new Map();
  for (const item of cases) for (const [arm, model, repetition, , , , , name] of item.runs) runs.set(keyOf({ case_id: item.id, model: index.models[model], variant: index.arms[arm].variant, run_number: repetition }), name);
  const words = { fail: "wrong", unsure: "hard to say" };
  const reviews = given.filter((entry) => !entry.assertion && runs.get(keyOf(entry))).map((entry) => ({ run_id: runs.get(keyOf(entry)), feedback: entry.note || words[entry.verdict] || "", ...(entry.at ? { timestamp: new Date(entry.at).toISOString() } : {}) }));
  return { reviews, status: reviews.length === runs.size ? "complete" : "in_progress" };
}

function download() {
  const given = sortedEntries();
  if (!given.length) return toast("No verdicts yet.");
  const file = index.feedback_format === "skill-creator" ? skillCreatorReviews(given) : { schema_version: 2, entries: given.map(written) };
  const link = h("a", { download: "feedback.json" });
  link.href = URL.createObjectURL(new Blob([JSON.stringify(file, null, 2) + "\n"], { type: "application/json" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  return toast(`feedback.json: ${counted(given.length, "verdict")}. Put it beside benchmark.json.`);
}

function toast(words) {
  const box = byId("toast");
  box.textContent = words;
  box.hidden = false;
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => { box.hidden = true; }, 4000);
}
