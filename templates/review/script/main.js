// ---- Views, keys, start
let keysOn = true, before = null;

const stored = (name) => { try { return localStorage.getItem("skill-lift:" + name); } catch { return null; } };
const store = (name, value) => { try { localStorage.setItem("skill-lift:" + name, value); } catch { /* for this page only */ } };

function render(place) {
  const { view } = state, entered = before !== null && `${view} ${state.id}` !== before;
  if (before !== `${view} ${state.id}`) saveNow();
  for (const name of ["overview", "cases", "case"]) byId(name).hidden = name !== view;
  for (const tab of document.querySelectorAll(".tabs a")) {
    if (tab.dataset.view === (view === "case" ? "cases" : view)) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  if (view === "cases") renderList();
  if (view === "case") renderCase();
  const title = view === "case" ? (caseOf(state.id) ? state.id : "No such case") : view === "cases" ? "Cases" : index.headline;
  document.title = plain(`${title} · ${index.skill} · skill-lift`);
  before = `${view} ${state.id}`;
  if (place) scrollTo(0, place.top);
  else if (entered) scrollTo(0, 0);
  if (view === "cases" && list.virtual) drawWindow();
  if (!entered) return;
  const focus = place?.focus && [...byId(view).querySelectorAll("[data-key]")].find((element) => element.dataset.key === place.focus);
  const target = focus || byId(view).querySelector("h1");
  if (target?.tabIndex < 0 || focus) target.focus({ preventScroll: true });
}

function followLink(event) {
  const link = event.target.closest?.("a[href^='#']");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const address = link.getAttribute("href"), view = /^#(overview|cases|case=)/.exec(address);
  if (address === "#main") byId(state.view).querySelector("h1, h2")?.focus();
  else if (!view) return;
  else if (address !== location.hash) {
    rememberPlace();
    history.pushState(null, "", address);
    readAddress();
    render();
  }
  event.preventDefault();
}

function step(by) {
  if (state.view === "cases") return moveInList(by);
  if (state.view !== "case") return null;
  const items = shownCases(), at = items.findIndex((item) => item.id === state.id), next = at < 0 ? items[0] : items[at + by];
  return next && go({ id: next.id, ...NO_CHOICE });
}

function nextForEyes() {
  const waiting = queue(), next = waiting[waiting.findIndex((item) => item.id === state.id) + 1] || waiting[0];
  if (next) go({ view: "case", id: next.id, f: "eyes", q: "", ...NO_CHOICE });
}

// The next value of a list after the one that is chosen, round and round.
const around = (values, chosen, by) => values[(values.indexOf(chosen) + by + values.length) % values.length];

const KEYS = {
  "?": () => byId("help").showModal(),
  "/": () => { if (state.view !== "cases") go({ view: "cases" }); list.search.focus(); },
  o: () => go({ view: "overview" }),
  c: () => go({ view: "cases" }),
  j: () => step(1),
  k: () => step(-1),
  n: nextForEyes,
};
const CASE_KEYS = {
  "[": (item) => go({ r: around(repetitionsOf(item), chosenRepetition(item), -1) }, true),
  "]": (item) => go({ r: around(repetitionsOf(item), chosenRepetition(item), 1) }, true),
  m: (item) => go({ m: around(modelsOf(item), chosenModel(item), 1) }, true),
  v: () => go({ show: state.show === "md" ? "raw" : "md" }, true),
  f: () => byId("note").focus(),
  Escape: () => go({ view: "cases" }),
};

function pressKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented || !keysOn || document.querySelector("dialog[open]")) return;
  const field = event.target.closest?.("input, textarea, select");
  if (field) {
    if (event.key !== "Escape") return;
    if (field === list.search && field.value) {
      field.value = "";
      field.dispatchEvent(new Event("input"));
    } else field.blur();
    event.preventDefault();
    return;
  }
  const item = state.view === "case" && caseOf(state.id);
  if (item && ["1", "2", "3"].includes(event.key)) {
    const radio = byId("case").querySelectorAll("input[name=verdict]")[event.key - 1];
    radio.checked = true;
    radio.dispatchEvent(new Event("change"));
  } else if (item && Object.hasOwn(CASE_KEYS, event.key)) CASE_KEYS[event.key](item);
  else if (Object.hasOwn(KEYS, event.key)) KEYS[event.key]();
  else return;
  event.preventDefault();
}

function changeTheme() {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  store("theme", root.dataset.theme);
}

function start() {
  history.scrollRestoration = "manual";
  keysOn = stored("keys") !== "off";
  byId("tools").hidden = false;
  byId("keys").checked = keysOn;
  byId("keys").addEventListener("change", (event) => { keysOn = event.target.checked; store("keys", keysOn ? "on" : "off"); });
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  byId("help-close").addEventListener("click", () => byId("help").close());
  byId("theme").addEventListener("click", changeTheme);
  addEventListener("click", followLink);
  addEventListener("keydown", pressKey);
  addEventListener("popstate", (event) => {
    // a place inside the overview is not an address of ours
    if (state.view === "overview" && location.hash && byId(location.hash.slice(1))?.closest("#overview")) return;
    readAddress();
    render(event.state || undefined);
  });
  // entries of the history that are left by Back and Forward keep their place, too
  addEventListener("scrollend", rememberPlace);
  addEventListener("scroll", () => { if (state.view === "cases" && list.virtual) requestAnimationFrame(drawWindow); }, { passive: true });
  addEventListener("resize", () => { if (state.view === "cases" && list.virtual) drawWindow(); });
  addEventListener("beforeprint", () => { for (const fill of printable) fill(); });
  addEventListener("pagehide", () => saveNow(true));
  addEventListener("beforeunload", (event) => {
    if (unsaved.size || (!index.served && storage !== "Saved in this browser" && entries.size)) event.preventDefault();
  });
  addEventListener("storage", (event) => { if (event.key === STORE) draftsChanged(); });
  for (const heading of document.querySelectorAll("#overview h1")) heading.tabIndex = -1;
  loadFeedback();
  readAddress();
  render(history.state || undefined);
}
start();
