// ---- Text of others. It is data: it becomes text nodes, and what would be invisible in it becomes a labelled box.
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);

const C0_NAMES = ("NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI "
  + "DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US").split(" ");
const HIDDEN_NAMES = {
  0x7f: "DEL", 0x85: "NEL", 0x9b: "CSI", 0xad: "SHY", 0x61c: "ALM", 0x180e: "MVS", 0x200b: "ZWSP", 0x200e: "LRM", 0x200f: "RLM",
  0x202a: "LRE", 0x202b: "RLE", 0x202c: "PDF", 0x202d: "LRO", 0x202e: "RLO", 0x2060: "WJ", 0x2066: "LRI", 0x2067: "RLI",
  0x2068: "FSI", 0x2069: "PDI", 0xfeff: "BOM",
};
// Terminal sequences are one box each. Joiners (ZWJ, ZWNJ) and variation selectors stay: emoji, Persian and Indic
// scripts need them.
const HIDDEN = new RegExp("(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]|\\u001b\\][^\\u0007\\u001b\\n]*(?:\\u0007|\\u001b\\\\)?"
  + "|[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]"
  + "|[\\u{e0000}-\\u{e007f}\\u{e0100}-\\u{e01ef}]", "gu");

const codeOf = (character) => "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
const nameOf = (character) => C0_NAMES[character.codePointAt(0)] || HIDDEN_NAMES[character.codePointAt(0)];

// What the box of a character or sequence says.
const hiddenLabel = (found) => [...found].map((character) => (character.search(HIDDEN) < 0 ? character : nameOf(character) || codeOf(character))).join("");
const countHidden = (text) => (text.replace(/\r\n/g, "\n").match(HIDDEN) || []).length;
// For places that hold no boxes: titles and labels of elements.
const plain = (text) => String(text).replace(HIDDEN, (found) => `[${hiddenLabel(found)}]`);

function visible(text) {
  const nodes = [];
  let done = 0;
  for (const { 0: found, index } of text.matchAll(HIDDEN)) {
    if (index > done) nodes.push(text.slice(done, index));
    const box = document.createElement("span");
    box.className = "ctl";
    box.title = [codeOf(found), nameOf(found)].filter(Boolean).join(" ") + ": shown, not executed";
    box.textContent = hiddenLabel(found);
    nodes.push(box);
    done = index + found.length;
  }
  if (done < text.length) nodes.push(text.slice(done));
  return nodes;
}

// ---- Colours of a terminal, on request: sequences that set colours become classes, all others stay boxes. Text that was
// to be concealed stays in sight.
const SGR = /(?:\u001b\[|\u009b)([\d;]*)m/;
let colours = false;

// The classes after a sequence, by what they set: f the text, k the ground, s1 to s9 the rest.
function sgrAfter(before, parameters) {
  let classes = { ...before };
  const codes = parameters.split(";").map(Number), bits = (rgb) => rgb.reduce((sum, on, i) => sum + (on ? 1 << i : 0), 0);
  // the nearest of the eight colours for a number of the palette of 256
  const nearest = (number) => (number < 16 ? number % 8 : number > 231 ? 7 : bits([36, 6, 1].map((unit) => Math.floor((number - 16) / unit) % 6 > 2)));
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i], tens = Math.floor(code / 10), what = tens % 2 ? "f" : "k";
    if (!code) classes = {};
    else if ([1, 2, 3, 4, 7, 9].includes(code)) classes["s" + code] = "s" + code;
    else if (tens === 2) for (const off of code === 22 ? [1, 2] : [code - 20]) delete classes["s" + off];
    else if (code === 38 || code === 48) {
      const [mode, ...values] = codes.slice(i + 1);
      classes[what] = what + (mode === 5 ? nearest(values[0]) : bits(values.slice(0, 3).map((value) => value > 127)));
      i += mode === 5 ? 2 : 4;
    } else if (code === 39 || code === 49) delete classes[what];
    else if ([3, 4, 9, 10].includes(tens) && code % 10 < 8) classes[what] = what + code % 10;
  }
  return classes;
}

function coloured(text) {
  let classes = {};
  return text.split(SGR).map((part, i) => {
    if (i % 2) classes = sgrAfter(classes, part);
    return i % 2 || !part ? null : h("span", { class: Object.values(classes).join(" ") || null }, part);
  });
}

// Every element of the page is built here, from text: the policy of the page forbids markup from strings.
// `h("span.muted", { title }, "text", child, [more])`: the attributes may be left out, a function is a listener.
// Tables name their roles, since the narrow layout takes them out of the table layout.
const ROLES = { table: "table", thead: "rowgroup", tbody: "rowgroup", tr: "row", td: "cell", th: "columnheader" };

function h(selector, ...content) {
  const [tag, ...classes] = selector.split("."), element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  if (tag === "button") element.type = "button";
  if (ROLES[tag]) element.setAttribute("role", ROLES[tag]);
  return fill(element, content);
}

function svg(selector, ...content) {
  const [tag, name] = selector.split("."), element = document.createElementNS(SVG, tag);
  if (name) element.setAttribute("class", name);
  return fill(element, content);
}

function fill(element, content) {
  const attributes = content[0]?.constructor === Object ? content.shift() : {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value == null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : plain(value));
  }
  if (attributes.scope === "row") element.setAttribute("role", "rowheader");
  for (const child of content.flat(9)) {
    if (child == null || child === false) continue;
    if (child instanceof Node) element.append(child);
    else element.append(...visible(String(child).replace(/\r\n/g, "\n")));
  }
  return element;
}

// Puts other content into an element, with the same rules as `h`.
function replace(element, ...content) {
  element.replaceChildren();
  return fill(element, content);
}
// Text in a language that nobody declared.
const FOREIGN = { dir: "auto", lang: "" };
// What scrolls by itself can be reached with the keyboard.
const scroller = (selector, label, more, ...content) => h(selector, { tabindex: 0, role: "group", "aria-label": label, ...more }, content);
const missing = (reason, words = NOT_MEASURED) => h("span.muted", { title: reason }, words);

// ---- Lines, marks
const LINE_LIMIT = 4000, HEAD_LINES = 300, TAIL_LINES = 100;

// The lines of an embedded text as [from, to) of its characters; where it was cut stands a gap.
function linesOf({ text, cuts = [] }) {
  const lines = [];
  let next = 0;
  for (let from = 0; from <= text.length;) {
    const found = text.indexOf("\n", from), end = found < 0 ? text.length : found;
    const to = end > from && text[end - 1] === "\r" && found >= 0 ? end - 1 : end;
    let start = from;
    for (; next < cuts.length && cuts[next][0] <= to; next++) {
      const [at, bytes] = cuts[next];
      if (at > start) lines.push({ from: start, to: at });
      lines.push({ gap: bytes });
      start = Math.max(start, at);
    }
    // a newline at the end of the text does not start a line
    if ((start < to || start === from) && (from < text.length || !from)) lines.push({ from: start, to });
    from = end + 1;
  }
  return lines;
}

const gapNote = (bytes) => h("p.gap", `… ${size(bytes)} not in this page …`);

// Characters [from, to) with the marks of the checks. Marks may overlap, so the text is split at every end of one.
function marked(view, from, to) {
  const marks = view.marks.filter((mark) => mark.from < to && mark.to > from);
  if (!marks.length) return [view.text.slice(from, to)];
  const ends = new Set([from, to]);
  for (const mark of marks) ends.add(Math.max(from, mark.from)).add(Math.min(to, mark.to));
  const sorted = [...ends].sort((a, b) => a - b), nodes = [];
  for (let i = 0; i + 1 < sorted.length; i++) {
    const piece = view.text.slice(sorted[i], sorted[i + 1]);
    const here = marks.filter((mark) => mark.from <= sorted[i] && mark.to >= sorted[i + 1]);
    if (!here.length) nodes.push(piece);
    else {
      const chosen = here.some((mark) => mark.check === view.chosen);
      nodes.push(h("mark", { class: chosen ? "on" : null, "data-from": sorted[i], "data-to": sorted[i + 1] }, piece));
    }
  }
  return nodes;
}

// Very long lines are cut, unless the chosen mark lies in the rest.
function longLine(view, from, to, draw) {
  const rest = from + LINE_LIMIT;
  if (to <= rest || view.marks.some((mark) => mark.check === view.chosen && mark.from < to && mark.to > rest)) return draw(from, to);
  const more = h("button.btn.sm", { click: () => more.replaceWith(...h("i", draw(rest, to)).childNodes) },
    "Show the rest of the line");
  printable.push(() => more.click());
  return [draw(from, rest), more];
}

// ---- Raw view, and JSON with line breaks
function rawLine(number, ...content) {
  return h("div.ln", h("span", { "aria-hidden": "true" }, number), h("div", { dir: "auto" }, content));
}

// A line is a piece of the text, or pieces of it with blanks before them.
function rawView(view, lines) {
  const draw = (from, to) => marked(view, from, to);
  return lines.map(({ gap, from, to, indent = 0, pieces = [[from, to, ""]], number }) => (gap != null ? gapNote(gap)
    : rawLine(number || "", "  ".repeat(Math.min(indent, 40)), pieces.map(([start, end, blank]) => [blank, longLine(view, start, end, draw)]))));
}

// JSON on lines of its own, from the characters of the answer: numbers stay as they were written, and marks keep their places.
function jsonLines({ text }) {
  const lines = [], tokenPattern = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+|"/g;
  let indent = 0, line = null, before = "";
  const start = () => lines.push(line = { indent, pieces: [] });
  start();
  for (const { 0: token, index } of text.matchAll(tokenPattern)) {
    const closes = token === "}" || token === "]";
    if (closes) indent = Math.max(0, indent - 1);
    if (before === "," || ((before === "{" || before === "[") !== closes && (closes || before === "{" || before === "["))) start();
    line.pieces.push([index, index + token.length, before === ":" ? " " : ""]);
    if (token === "{" || token === "[") indent++;
    before = token;
  }
  return lines;
}

// ---- Rendered view: the part of Markdown that answers use. Links, images and HTML stay text.
const FENCE = /^\s*(```+|~~~+)/, HEADING = /^ {0,3}(#{1,6})\s+/, QUOTE = /^ {0,3}> ?/, RULE = /^\s*([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const LIST_ITEM = /^(\s*)([-*+]|\d{1,9}[.)])[ \t]+(?=\S)/, TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
// Lists and quotes inside each other, as deep as they are drawn.
const NESTED = 8;
// No part looks past the next sign of its own kind, so that a long line of signs takes no longer than any other. The last
// two are no marks: they pass over signs inside words.
const INLINE = new RegExp([/\\(?<escaped>[!-/:-@[-`{-~])/, /(?<ticks>`+)(?!`)(?<code>[^`]+)\k<ticks>(?!`)/, /\*\*(?=\S)(?<b>(?:[^*]|\*(?!\*))*[^*\s])\*\*/,
  /~~(?=\S)(?<del>[^~]*[^~\s])~~/, /\*(?=\S)(?<em>[^*]*[^*\s])\*(?![*\w])/, /_(?=\S)(?<i>[^_]*[^_\s])_(?!\w)/,
  /(?<image>!?)\[(?<label>[^[\]]*)\]\((?<target>[^()\s]+)\)/, /`+/, /\w+\*?(?!\*)/].map(({ source }) => source).join("|"), "g");

function inline(view, from, to) {
  return longLine(view, from, to, (start, end) => inlinePiece(view, start, end));
}

function inlinePiece(view, from, to) {
  const nodes = [], text = view.text.slice(from, to);
  let done = 0;
  const part = (start, length) => marked(view, from + start, from + start + length);
  for (const { 0: whole, groups, index: at } of text.matchAll(INLINE)) {
    const { escaped, ticks, code, image, label, target } = groups, tag = ["b", "del", "em", "i"].find((name) => groups[name]);
    if (!(escaped || ticks || tag || target)) continue;
    if (at > done) nodes.push(part(done, at - done));
    if (escaped) nodes.push(part(at + 1, 1));
    else if (ticks) nodes.push(h("code", part(at + ticks.length, code.length)));
    else if (tag) {
      const start = from + at + (whole.length - groups[tag].length) / 2;
      nodes.push(h(tag, inlinePiece(view, start, start + groups[tag].length)));
    } else {
      const start = at + image.length + 1, link = part(start + label.length + 2, target.length);
      nodes.push(image ? ["[image: ", part(start, label.length), "] "] : [part(start, label.length), " "], h("span.muted", "(", link, ")"));
    }
    done = at + whole.length;
  }
  if (done < text.length) nodes.push(part(done, text.length - done));
  return nodes;
}

function tableRow(view, line, cell) {
  const row = h("tr"), text = view.text.slice(line.from, line.to);
  const start = text.search(/\S/) + (text.trimStart().startsWith("|") ? 1 : 0);
  const end = text.trimEnd().length - (/[^\\]\|\s*$/.test(text) ? 1 : 0);
  let from = start;
  for (let at = start; at <= end; at++) {
    if (at < end && (text[at] !== "|" || text[at - 1] === "\\")) continue;
    const space = text.slice(from, at), left = from + space.length - space.trimStart().length;
    row.append(h(cell, { dir: "auto" }, inline(view, line.from + left, line.from + left + space.trim().length)));
    from = at + 1;
  }
  return row;
}

// `fence` opens the code that the lines start in, where they are the end of a text of which the middle is folded.
function markdownView(view, all, level, fence) {
  let top = 7;
  const textOf = (line) => (line && line.gap == null ? view.text.slice(line.from, line.to) : null);
  const indentOf = (text) => /^[ \t]*/.exec(text)[0].replaceAll("\t", "    ").length;
  // a line without its first columns of blanks; a tab is four of them
  const dedent = ({ from, to }, columns) => {
    for (let at = 0; at < columns && from < to && " \t".includes(view.text[from]); from++) at += view.text[from] === "\t" ? 4 : 1;
    return { from, to };
  };

  // What stands in lines that may lie inside a list or a quote; a line starts after the signs of those.
  const blocksOf = (lines, depth) => {
    const blocks = [], at = (i) => textOf(lines[i]);
    const holds = (pattern, i) => depth < NESTED && pattern.test(at(i));
    const isRule = (i) => RULE.test(at(i)), isItem = (i) => holds(LIST_ITEM, i) && !isRule(i);
    const isTable = (i) => at(i)?.includes("|") && at(i + 1)?.includes("|") && at(i + 1).length < LINE_LIMIT && TABLE_RULE.test(at(i + 1));
    const isText = (i) => at(i)?.trim() && !isRule(i) && !isItem(i) && !holds(QUOTE, i) && !FENCE.test(at(i)) && !HEADING.test(at(i)) && !isTable(i);
    // the lines of an item: what is indented more than its sign, and text that goes on without
    const item = (i) => {
      const [whole, space] = LIST_ITEM.exec(at(i)), held = [{ from: lines[i].from + whole.length, to: lines[i].to }];
      let end = i + 1, width = indentOf(whole.replace(/\S/g, " "));
      for (let next = end; next < lines.length && at(next) != null; next++) {
        if (!at(next).trim()) continue;
        const indent = indentOf(at(next)), inside = indent >= indentOf(space) + 2;
        if (!inside && !(next === end && isText(next))) break;
        if (inside) width = Math.min(width, indent);
        while (end <= next) held.push(dedent(lines[end++], width));
      }
      const [first, ...rest] = blocksOf(held, depth + 1);
      return [h("li", { dir: "auto" }, first?.tagName === "P" ? [...first.childNodes] : first, rest), end];
    };
    // code from a line up to the end of its fence, or of the lines
    const code = (i, sign, indent) => {
      const box = h("pre", { dir: "auto" });
      for (; i < lines.length && !at(i)?.trim().startsWith(sign); i++) {
        if (at(i) == null) box.append(gapNote(lines[i].gap));
        else {
          const { from, to } = dedent(lines[i], indent);
          fill(box, [longLine(view, from, to, (start, end) => marked(view, start, end)), "\n"]);
        }
      }
      blocks.push(box);
      return i;
    };
    for (let i = fence && !depth ? code(0, fence, 0) + 1 : 0; i < lines.length; i++) {
      const line = lines[i], text = at(i);
      if (text == null) blocks.push(gapNote(line.gap));
      else if (!text.trim()) continue;
      else if (FENCE.test(text)) i = code(i + 1, FENCE.exec(text)[1], indentOf(text));
      else if (HEADING.test(text)) {
        // two levels, relative to the first one of the answer, so that the outline of the page skips none
        const [whole, { length }] = HEADING.exec(text);
        top = Math.min(top, length);
        blocks.push(h("h" + (length <= top ? level : level + 1), { dir: "auto" }, inline(view, line.from + whole.length, line.to)));
      } else if (isRule(i)) blocks.push(h("hr"));
      else if (isTable(i)) {
        const body = h("table", { dir: "auto" }, tableRow(view, line, "th"));
        for (i += 2; at(i)?.includes("|"); i++) body.append(tableRow(view, lines[i], "td"));
        i--;
        blocks.push(scroller("div.scroll", "Table", null, body));
      } else if (holds(QUOTE, i)) {
        const held = [];
        for (; holds(QUOTE, i) || (held.length && isText(i)); i++) held.push({ from: lines[i].from + (QUOTE.exec(at(i))?.[0].length || 0), to: lines[i].to });
        i--;
        const quote = h("blockquote", blocksOf(held, depth + 1));
        // its bar stands where its first letter does
        if (/^\P{L}*[\p{Script=Hebrew}\p{Script=Arabic}]/u.test(quote.textContent)) quote.dir = "rtl";
        blocks.push(quote);
      } else if (isItem(i)) {
        const sign = LIST_ITEM.exec(text)[2], ordered = /\d/.test(sign), list = h(ordered ? "ol" : "ul", { start: ordered && sign.slice(0, -1) !== "1" ? parseInt(sign, 10) : null });
        for (let next = i; next < lines.length && isItem(next) && /\d/.test(LIST_ITEM.exec(at(next))[2]) === ordered;) {
          const [entry, end] = item(next);
          list.append(entry);
          i = end - 1;
          for (next = end; at(next) != null && !at(next).trim(); next++);
        }
        blocks.push(list);
      } else {
        const paragraph = h("p", { dir: "auto" }, inline(view, dedent(line, 9).from, line.to));
        while (isText(i + 1)) fill(paragraph, ["\n", inline(view, dedent(lines[++i], 9).from, lines[i].to)]);
        blocks.push(paragraph);
      }
    }
    return blocks;
  };
  return blocksOf(all, 0);
}

// ---- A text with a limit on the lines in the document: the head, a button for all, the tail.
// What opens the code that a line of Markdown lies in, if it does.
function fenceAt({ text }, lines, number) {
  let fence = null;
  for (const { gap, from, to } of lines.slice(0, number)) {
    const line = gap == null ? text.slice(from, to) : "";
    if (!fence) fence = FENCE.exec(line)?.[1];
    else if (line.trim().startsWith(fence)) fence = null;
  }
  return fence;
}

// What the print needs in full is put here by everything that shows only a part.
let printable = [];

function limited(box, lines, draw, { head = HEAD_LINES, tail = TAIL_LINES, open = false } = {}) {
  const show = (all) => {
    if (all || lines.length <= head + tail) return replace(box, draw(lines));
    const gaps = lines.slice(head, lines.length - tail).filter((line) => line.gap != null).map((line) => gapNote(line.gap));
    const more = h("p.more", h("button.btn.sm", { click: () => { show(true); box.focus({ preventScroll: true }); } },
      `Show all ${count(lines.length)} lines`));
    return replace(box, draw(lines.slice(0, head)), gaps, more, tail ? draw(lines.slice(-tail)) : null);
  };
  show(open);
  printable.push(() => show(true));
  return box;
}

function numbered(lines) {
  // after a gap nobody knows the number of a line
  for (let i = 0; i < lines.length && lines[i].gap == null; i++) lines[i].number = i + 1;
  return lines;
}

// An answer or a text file in one of the views.
function textBox(box, entry, { marks = [], chosen = null, show, level = 4, head, tail }) {
  const view = { text: entry.text, marks, chosen };
  const json = show === "md" && entry.json;
  const lines = numbered(json ? jsonLines(entry) : linesOf(entry));
  const draw = (part) => (show === "md" && !json ? markdownView(view, part, level, fenceAt(view, lines, lines.indexOf(part[0]))) : rawView(view, part));
  // the chosen mark must not hide behind the button
  const strong = marks.filter((mark) => mark.check === chosen);
  const behind = (line) => strong.some((mark) => (line.pieces || [[line.from, line.to]]).some(([from, to]) => mark.from < to && mark.to > from));
  const hiddenPart = lines.slice(head ?? HEAD_LINES, lines.length - (tail ?? TAIL_LINES));
  return limited(box, lines, draw, { head, tail, open: strong.length > 0 && hiddenPart.some(behind) });
}

// The notes over a text: cut, not UTF-8, hidden characters.
function textNotes(entry, path) {
  const notes = [], cut = (entry.cuts || []).reduce((sum, [, bytes]) => sum + bytes, 0);
  if (cut) notes.push(h("div.alert.cut", `Truncated: ${size(entry.bytes - cut)} of ${size(entry.bytes)} are in this page. Full file: `, h("code", path)));
  if (entry.replaced) {
    notes.push(h("div.alert.cut",
      entry.replaced === 1 ? "1 byte was not UTF-8; it shows as \ufffd." : `${count(entry.replaced)} bytes were not UTF-8; they show as \ufffd.`));
  }
  const hidden = countHidden(entry.text);
  if (hidden) {
    notes.push(h("div.alert", hidden === 1
      ? "Holds 1 hidden or direction-changing character. It is shown as a label and never executed."
      : `Holds ${count(hidden)} hidden or direction-changing characters. They are shown as labels and never executed.`));
  }
  return notes;
}
