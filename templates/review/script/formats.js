// ---- Formats that cases are shown in: the same strings as the report in every other format.
// tests/browser/format-vectors.json holds both to it.
const MINUS = "\u2212", NO_BREAK = "\u00a0", NOT_MEASURED = "not measured";

// The size of a number with `decimals` decimals after a shift by powers of ten, half to even. It works on the digits:
// the shortest ones that mean the number (a rate of 0.575 is 57.5 percent and not 57.49999), or all of its binary value.
function fixed(value, decimals, shift = 0, binary = false) {
  const [mantissa, exponent] = Math.abs(value).toExponential(binary ? 60 : undefined).split("e");
  const digits = mantissa.replace(".", ""), cut = 1 + Number(exponent) + shift + decimals;
  const kept = cut > 0 ? digits.slice(0, cut).padEnd(cut, "0") : "0";
  const rest = cut < 0 ? "" : digits.slice(cut).replace(/0+$/, "");
  const up = rest > "5" || (rest === "5" && "13579".includes(kept.at(-1)));
  const whole = (BigInt(kept) + (up ? 1n : 0n)).toString().padStart(decimals + 1, "0");
  return decimals ? whole.slice(0, -decimals) + "." + whole.slice(-decimals) : whole;
}

const grouped = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const signed = (value, size) => (value > 0 ? "+" : value < 0 ? MINUS : "") + size;

function rate(value) {
  if (value === 0 || value === 1) return value ? "100%" : "0%";
  const shown = fixed(value, 0, 2);
  return shown === "0" ? "<1%" : shown === "100" ? ">99%" : shown + "%";
}

// One end of a lift or interval without its unit: whole points, one decimal below one point.
function wholeEnd(value) {
  return value === 0 ? "0" : signed(value, fixed(value, Math.abs(value * 100) < 1 ? 1 : 0, 2));
}
const wholePoints = (value) => wholeEnd(value) + NO_BREAK + "pp";
const wholeInterval = (low, high) => `${wholeEnd(low)} to ${wholePoints(high)}`;

function money(amount, currency) {
  const sign = currency === "USD" ? "$" : currency + NO_BREAK;
  if (amount === 0) return sign + "0";
  if (amount <= 0.0005) return "<" + sign + "0.001";
  const [whole, rest] = fixed(amount, amount >= 100 ? 0 : amount >= 1 ? 2 : 3).split(".");
  return sign + grouped(whole) + (rest ? "." + rest : "");
}
const moneyDifference = (amount, currency) => signed(amount, money(Math.abs(amount), currency));

// Three figures of a whole number, and the next unit where they round up to a thousand.
function threeFigures(value, units) {
  for (const [power, unit] of units) {
    for (const decimals of [2, 1, 0]) {
      const shown = fixed(value, decimals, -power);
      if (Number(shown) < 10 ** (3 - decimals)) return shown + unit;
    }
  }
  const [power, unit] = units.at(-1);
  return grouped(fixed(value, 0, -power)) + unit;
}

const TOKEN_UNITS = [[3, "k"], [6, "M"], [9, "G"]];
const SIZE_UNITS = [[3, NO_BREAK + "kB"], [6, NO_BREAK + "MB"], [9, NO_BREAK + "GB"]];
const count = (value) => grouped(fixed(value, 0));
const tokens = (value) => (value < 10000 ? count(value) : threeFigures(value, TOKEN_UNITS));
const size = (bytes) => (bytes < 1000 ? `${bytes}${NO_BREAK}B` : threeFigures(bytes, SIZE_UNITS));
function tokenDifference(mean) {
  const whole = Number(fixed(mean, 0, 0, true));
  return whole === 0 ? "0" : signed(mean, tokens(whole));
}

function time(milliseconds) {
  const whole = (value) => Number(fixed(value, 0, 0, true));
  if (whole(milliseconds) < 1000) return `${whole(milliseconds)}${NO_BREAK}ms`;
  const tenths = fixed(milliseconds / 1000, 1, 0, true);
  if (Number(tenths) < 100) return `${tenths}${NO_BREAK}s`;
  const seconds = whole(milliseconds / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)}${NO_BREAK}min ${seconds % 60}${NO_BREAK}s`;
  const minutes = whole(milliseconds / 60000);
  return `${count(Math.floor(minutes / 60))}${NO_BREAK}h ${minutes % 60}${NO_BREAK}min`;
}
const timeDifference = (milliseconds) => signed(milliseconds, time(Math.abs(milliseconds)));
const counted = (number, one, many = one + "s") => `${count(number)} ${number === 1 ? one : many}`;
