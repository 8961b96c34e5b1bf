// ---- The list of cases
const VIRTUAL_FROM = 300, ROWS_AROUND = 10, COLUMNS = 7;
const list = { built: false, cursor: -1, items: [], rowHeight: 64, first: -1, last: -1 };

function glyph(item) {
  if (item.queue === 1 || item.queue === 3) return ["!", "bad"];
  if (item.lift < 0 || item.queue === 6) return ["▼", "bad"];
  if (item.queue != null) return ["◇", "warn"];
  return item.lift > 0 ? ["▲", "up"] : item.lift === 0 ? ["=", "muted"] : ["·", "muted"];
}
const glyphMark = (item) => h("span", { class: "g " + glyph(item)[1], "aria-hidden": "true" }, glyph(item)[0]);
const liftClass = (item) => (item.lift > 0 ? "up" : item.lift < 0 ? "down" : null);
const flagTags = (item) => item.flags.flatMap(([label, exact, tone]) => [h("span", { class: ("tag " + tone).trim(), title: exact }, label), " "]);
const shownRate = (value, reason) => (value == null ? missing(reason) : h("span", { "data-v": value }, rate(value)));
const shownLift = (item) => (item.lift == null ? missing(item.lift_reason) : h("b", { class: liftClass(item), "data-v": item.lift }, wholePoints(item.lift)));
const shownCost = (item) => (item.cost ? h("span", { "data-v": item.cost.delta }, moneyDifference(item.cost.delta, item.cost.currency)) : missing(item.cost_reason));

// A lift and its interval on −100 to +100 points.
function liftGraphic(item) {
  if (item.lift == null) return missing(item.lift_reason);
  const at = (value) => (value + 1) * 50 + "%";
  const words = `Lift ${wholePoints(item.lift)}, ` + (item.ci ? `95% interval ${wholeInterval(...item.ci)}` : "no interval");
  return svg("svg", { width: "100%", height: 22, role: "img", "aria-label": words },
    item.ci ? null : svg("title", "no interval" + (item.ci_reason ? ": " + item.ci_reason : "")),
    svg("line.ax", { x1: 0, x2: "100%", y1: 11, y2: 11 }), svg("line.zero", { x1: "50%", x2: "50%", y1: 0, y2: 22 }),
    svg("g", { class: item.lift > 0 ? "tone-up" : item.lift < 0 ? "tone-down" : "tone-flat" },
      item.ci && svg("line.ci", { x1: at(item.ci[0]), x2: at(item.ci[1]), y1: 11, y2: 11 }),
      svg("circle.pt", { cx: at(item.lift), cy: 11, r: 4.5 })));
}

function listRow(item, position) {
  const cell = (name, ...content) => h("td", { class: name || null, role: name == null ? "rowheader" : null }, content);
  return h("tr", { "aria-rowindex": list.virtual ? position + 1 : null, "data-position": position },
    cell(null, h("a", { href: addressOf({ view: "case", id: item.id, ...NO_CHOICE }), "data-key": "case " + item.id }, glyphMark(item), " ", h("bdi", item.id)),
      h("span.ttl", h("bdi", item.title), isReviewed(item.id) ? (item.title ? " · " : "") + "reviewed" : "")),
    cell("num opt", shownRate(item.without, item.lift_reason)), cell("num opt", shownRate(item.with, item.lift_reason)),
    cell("num", shownLift(item)), cell("plot", liftGraphic(item)), cell("num opt", shownCost(item)), cell("fl", flagTags(item)));
}

function sortHeader(sort, name, classes) {
  const chosen = state.s === sort;
  return h("th", { scope: "col", class: classes, "aria-sort": chosen ? (state.d > 0 ? "ascending" : "descending") : null },
    h("button", { "data-key": "sort " + sort, click: () => go(chosen ? { d: -state.d } : { s: sort, d: 1 }, true) },
      name, chosen ? h("span", { "aria-hidden": "true" }, state.d > 0 ? " ↑" : " ↓") : null));
}

function listHead() {
  return h("tr", sortHeader("id", "Case"), sortHeader("without", shortArm(1), "num opt"), sortHeader("with", shortArm(0), "num opt"),
    sortHeader("lift", "Lift", "num"),
    h("th", { scope: "col", class: "plot opt" }, h("span.vh", "Interval"),
      svg("svg", { width: "100%", height: 14, "aria-hidden": "true" }, svg("text", { x: 0, y: 12 }, MINUS + "100"),
        svg("text", { x: "50%", y: 12, "text-anchor": "middle" }, "0"), svg("text", { x: "100%", y: 12, "text-anchor": "end" }, "+100 pp"))),
    sortHeader("cost", "Extra cost", "num opt"), sortHeader("eyes", "Flags"));
}

function filterChip([filter, [name, holds]]) {
  return h("button.chip", { "data-key": "filter " + filter, "aria-pressed": String(state.f === filter),
    click: () => go({ f: state.f === filter ? "all" : filter }, true) }, name, " ", h("span.n", count(cases.filter(holds).length)));
}

function buildList() {
  list.search = h("input", { type: "search", id: "search", placeholder: "Search cases", autocomplete: "off", spellcheck: "false",
    "aria-label": "Search cases; text:word looks into prompts and answers",
    input: () => { state.q = list.search.value; history.replaceState(history.state, "", addressOf({})); list.cursor = -1; fillRows(); } });
  list.chips = h("div", { role: "group", "aria-label": "Filter", class: "bar f" });
  list.head = h("thead");
  list.body = h("tbody", { click: openRow });
  list.table = h("table.list", { "aria-label": "Cases" }, list.head, list.body);
  list.status = h("p.small.muted.status", { role: "status" });
  byId("cases").replaceChildren(h("h1.vh", { tabindex: -1 }, "Cases"), h("div.bar", list.search, list.chips), list.status, list.table);
  list.built = true;
}

function openRow(event) {
  const row = event.target.closest("tr[data-position]");
  if (!row || event.target.closest("a") || String(getSelection())) return;
  row.querySelector("a").click();
}

function renderList() {
  if (!list.built) buildList();
  if (list.search.value !== state.q) list.search.value = state.q;
  keepFocus(byId("cases"), () => {
    list.chips.replaceChildren(...Object.entries(FILTERS).map(filterChip));
    list.head.replaceChildren(listHead());
    fillRows();
  });
}

function fillRows() {
  list.items = shownCases();
  list.virtual = cases.length > VIRTUAL_FROM && list.items.length > 0;
  list.cursor = Math.min(list.cursor, list.items.length - 1);
  list.table.classList.toggle("virtual", list.virtual);
  if (list.virtual) list.table.setAttribute("aria-rowcount", list.items.length);
  else list.table.removeAttribute("aria-rowcount");
  list.first = -1;
  if (list.virtual) return drawWindow(), listStatus();
  list.body.replaceChildren(...(list.items.length ? list.items.map(listRow) : [h("tr", h("td", { colspan: COLUMNS }, emptyList()))]));
  return listStatus();
}

function emptyList() {
  if (!cases.length) return h("div.empty", h("p", "This report has no cases."), index.filters ? h("p", index.filters) : null);
  return h("div.empty", h("p", state.q ? ["No case matches “", h("bdi", state.q), "”."] : "No case matches this filter."),
    h("button.btn.sm", { click: () => { go({ q: "", f: "all" }, true); list.search.focus(); } }, "Clear search and filter"));
}

function listStatus() {
  const searching = !textSearch.done ? `Searching ${textSearch.at} of ${textSearch.of}… ` : "";
  const hint = list.virtual ? " Use the search field: the list shows only the rows in view." : "";
  list.status.textContent = `${searching}${count(list.items.length)} of ${counted(cases.length, "case")} shown.${hint}`;
}

// More than 300 rows: only those near the window are in the document; two empty rows hold the place of the others.
function drawWindow() {
  const top = list.body.getBoundingClientRect().top, visibleRows = Math.ceil(innerHeight / list.rowHeight);
  const first = Math.max(0, Math.min(list.items.length - visibleRows, Math.floor(-top / list.rowHeight)) - ROWS_AROUND);
  const last = Math.min(list.items.length, Math.max(0, Math.floor(-top / list.rowHeight)) + visibleRows + ROWS_AROUND);
  if (first === list.first && last === list.last) return;
  Object.assign(list, { first, last });
  const space = (rows) => {
    const cell = h("td", { colspan: COLUMNS }), row = h("tr.space", { "aria-hidden": "true" }, cell);
    cell.style.height = rows * list.rowHeight + "px";
    return row;
  };
  keepFocus(list.body, () => {
    list.body.replaceChildren(space(first), ...list.items.slice(first, last).map((item, i) => listRow(item, first + i)), space(list.items.length - last));
  });
  const height = list.body.children[1].getBoundingClientRect().height;
  if (Math.abs(height - list.rowHeight) > 0.5 && height > 0) {
    list.rowHeight = height;
    list.first = -1;
    drawWindow();
  }
}

function moveInList(step) {
  if (!list.items.length) return;
  list.cursor = Math.max(0, Math.min(list.items.length - 1, list.cursor + step));
  if (list.virtual && (list.cursor < list.first + 1 || list.cursor > list.last - 2)) {
    scrollTo(0, scrollY + list.body.getBoundingClientRect().top + list.cursor * list.rowHeight - innerHeight / 2);
    drawWindow();
  }
  const row = list.body.querySelector(`tr[data-position="${list.cursor}"]`);
  row.scrollIntoView({ block: "nearest" });
  row.querySelector("a").focus({ preventScroll: true });
}

// Called while texts are searched: the rows and the rail grow with what is found.
function searchProgress() {
  if (state.view === "cases") fillRows();
  else if (state.view === "case" && textSearch.done) renderRail();
}
