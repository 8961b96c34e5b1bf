#!/usr/bin/env python3
"""Asks CPython and the text crate the same questions about generated texts, and names every difference.

    cargo build --profile quick -p skill-lift-text --example answer_python
    python3 tests/differential/text_against_python.py --program target/quick/examples/answer_python

Patterns: whether `re.compile` accepts them, with which words and position it refuses them, and the span of `re.search`,
for both engines. Texts: `difflib.SequenceMatcher(...).ratio()` bit for bit, and `difflib.unified_diff`. The same seed
gives the same questions. Exit code 1 when something differs that DOCUMENTED does not name.

Needs CPython 3.11, whose Unicode tables and regular expressions are the reference; another version ends with 0 and one
line that says so.
"""
import argparse
import difflib
import json
import random
import re
import signal
import subprocess
import sys
import warnings

# What may differ, and why: (name, test of the case).
DOCUMENTED = [
    ("a repeated part that can match nothing, searched linearly: the end is not Python's (Pattern::search_linear)",
     lambda engine, expected, found: engine == "linear" and expected and found and expected[0] == found[0]),
]

LETTERS = list("abAB1_ \n-") + list("éÉiIıİßẞsſKk²ςΣŉ日Ⓐ") + ["K", "\u0301", "٣", "\x1c", "\U00010400", "\U00010428",
                                                                "\u0345", "\u200d"]
JUNK = list("()[]{}*+?|\\^$.,-:=!<>#PaiLmsxutN0123456789 \n_é&~") + [
    "(?", "(?P<", "(?P=", "(?(", "(?i)", "(?-", "\\x", "\\u", "\\N{", "{2,1}", "[^]", "\\8", "(?#", "(?x)", "\\N{BULLET}",
    "(?<=", "(?t)", "{,", "\\400", "\\12", "(?a)", "(?u)", "\\b*"]
WORDS = "retry backoff limit the a of ok error line case skill run pass fail é 日本 — → 🚀 \u200b".split(" ")


class Patterns:
    """Patterns of Python's grammar, now and then with something broken in them."""

    def __init__(self, rng):
        self.rng, self.groups = rng, 0

    def character(self):
        return self.rng.choice("ab") if self.rng.random() < .6 else self.rng.choice(LETTERS)

    def literal(self):
        character = self.character()
        if self.rng.random() < .5:
            return re.escape(character)
        return character if character not in "\\[]{}()*+?.^$|#" else "\\" + character

    def character_class(self):
        rng, parts = self.rng, "[" + ("^" if self.rng.random() < .3 else "")
        for _ in range(rng.randint(1, 3)):
            kind = rng.random()
            if kind < .5:
                odd = ["\\-", "\\]", "&&", "--", "~~", "[", ":", "]"]
                parts += rng.choice(odd) if rng.random() < .1 else self.character().replace("-", "\\-")
            elif kind < .75:
                ends = [rng.choice(LETTERS), rng.choice(LETTERS)]
                first, last = sorted(ends) if rng.random() < .95 else ends
                parts += "%s-%s" % (first.replace("-", "\\-"), last.replace("-", "\\-"))
            else:
                parts += rng.choice(["\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\b", "\\x41", "\\u00e9", "\\n", "\\0"])
        return parts + "]"

    def atom(self, depth):
        rng, kind = self.rng, self.rng.random()
        if depth <= 0 or kind < .45:
            return self.literal()
        if kind < .5:
            return "."
        if kind < .58:
            return self.character_class()
        if kind < .64:
            return rng.choice(["\\w", "\\d", "\\s", "\\W", "\\D", "\\S"])
        if kind < .72:
            return rng.choice(["^", "$", "\\A", "\\Z", "\\b", "\\B", "$", "\\b"])
        if kind < .80:
            self.groups += 1
            name = "?P<g%d>" % self.groups if rng.random() < .2 else ""
            return "(" + name + self.alternatives(depth - 1) + ")"
        if kind < .86:
            return "(?:" + self.alternatives(depth - 1) + ")"
        if kind < .91:
            return rng.choice(["(?=", "(?!", "(?<=", "(?<!"]) + self.alternatives(depth - 1 if rng.random() < .5 else 0) + ")"
        if kind < .93:
            return "(?>" + self.alternatives(depth - 1) + ")"
        if kind < .96 and self.groups:
            group = rng.randint(1, self.groups)
            return "\\%d" % group if rng.random() < .8 else "(?P=g%d)" % group
        if kind < .98 and self.groups:
            other = "|" + self.sequence(depth - 1) if rng.random() < .6 else ""
            return "(?(%d)%s%s)" % (rng.randint(1, self.groups + (rng.random() < .1)), self.sequence(depth - 1), other)
        return "(?%s:%s)" % (rng.choice(["i", "a", "-i", "s", "m", "ai", "m-i", "x", "u", "i-s"]),
                             self.alternatives(depth - 1))

    def repeat(self):
        if self.rng.random() < .62:
            return ""
        repeat = self.rng.choice(["*", "+", "?", "*", "+", "{2}", "{1,2}", "{,2}", "{1,}", "{0}", "{0,1}", "{2,3}"])
        kind = self.rng.random()
        return repeat + ("?" if kind < .2 else "+" if kind < .3 else "")

    def sequence(self, depth):
        count = self.rng.randint(0 if self.rng.random() < .2 else 1, 4)
        return "".join(self.atom(depth) + self.repeat() for _ in range(count))

    def alternatives(self, depth):
        return "|".join(self.sequence(depth) for _ in range(self.rng.choice([1, 1, 1, 2, 3])))

    def pattern(self):
        rng, self.groups = self.rng, 0
        pattern = self.alternatives(rng.choice([1, 2, 2, 3]))
        if rng.random() < .12:
            pattern = rng.choice(["(?m)", "(?s)", "(?i)", "(?a)", "(?x)", "(?ai)", "(?mi)", "(?u)"]) + pattern
        if rng.random() < .25:
            for _ in range(rng.randint(1, 3)):
                at, kind = rng.randint(0, len(pattern)), rng.random()
                pattern = pattern[:at] + (rng.choice(JUNK) if kind < .7 else "") + pattern[at + (1 if kind > .4 else 0):]
        return pattern

    def text(self):
        text = "".join(self.character() for _ in range(self.rng.choice([0, 1, 2, 4, 6, 9, 12])))
        return text + "\n" if self.rng.random() < .25 else text


class TooSlow(Exception):
    pass


def too_slow(*_):
    raise TooSlow


def python_on(pattern, ignore_case, texts):
    """What CPython says: ("refused", [words, position]), ("spans", [...]), or None when it takes too long."""
    try:
        compiled = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    except re.error as error:
        return "refused", [error.msg, error.pos]
    except (OverflowError, ValueError) as error:
        return "refused", [str(error), None]
    except RecursionError:
        return None
    signal.setitimer(signal.ITIMER_REAL, .3)
    try:
        spans = [list(match.span()) if match else None for match in map(compiled.search, texts)]
    except (TooSlow, RuntimeError, SystemError):  # the last: CPython itself asks for a bug report
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return "spans", spans


def pattern_questions(rng, count):
    patterns = Patterns(rng)
    while count > 0:
        pattern, ignore_case = patterns.pattern(), rng.random() < .5
        texts = [patterns.text() for _ in range(4)]
        expected = python_on(pattern, ignore_case, texts)
        if expected is None:
            continue
        count -= len(texts) if expected[0] == "spans" else 1
        yield {"pattern": pattern, "ignore_case": ignore_case, "texts": texts}, expected


def prose(rng, length):
    return " ".join(rng.choice(WORDS) for _ in range(length))


def mutated(rng, text):
    parts = list(text)
    for _ in range(rng.randint(0, max(1, len(parts) // 6))):
        if not parts:
            break
        at, kind = rng.randrange(len(parts)), rng.random()
        if kind < .4:
            parts[at] = rng.choice(LETTERS)
        elif kind < .7:
            del parts[at]
        else:
            start = rng.randrange(len(parts))
            parts[at:at] = parts[start:start + rng.randint(1, 12)]
    return "".join(parts)


def text_pair(rng):
    kind = rng.random()
    if kind < .3:
        alphabet = rng.choice(["ab", "abc", "abcdefgh ", "01", "é日🚀a"])
        return ["".join(rng.choice(alphabet) for _ in range(rng.choice([0, 1, 5, 30, 150, 199, 200, 201, 400])))
                for _ in range(2)]
    actual = prose(rng, rng.choice([1, 3, 10, 40, 120]))
    return [actual, mutated(rng, actual) if kind < .85 else prose(rng, rng.choice([1, 10, 40, 120]))]


def text_questions(rng, count):
    for number in range(count):
        first, second = text_pair(rng)
        if number % 5 == 4:
            old, new = (text.replace(" ", "\n").split("\n") for text in (first, second))
            diff = list(difflib.unified_diff(old, new, "old", "new", lineterm=""))
            yield {"old": old, "new": new}, ("diff", diff)
        else:
            autojunk = rng.random() < .8
            ratio = difflib.SequenceMatcher(None, first, second, autojunk=autojunk).ratio()
            yield {"actual": first, "expected": second, "autojunk": autojunk}, ("ratio", ratio)


def differences(question, expected, answer):
    """Texts that say what differs; None for what is documented."""
    kind, value = expected
    if kind not in answer:
        yield f"{question}: Python {expected}, ours {answer}"
        return
    if kind != "spans":
        if answer[kind] != value:
            yield f"{question}: Python {value!r}, ours {answer[kind]!r}"
        return
    for text, span, found in zip(question["texts"], value, answer["spans"]):
        for engine, ours in zip(("linear", "backtracking", "chosen"), found):
            if isinstance(ours, str) or ours == span:
                continue
            if any(test(engine, span, ours) for _, test in DOCUMENTED):
                yield None
            else:
                yield f"{question['pattern']!r} on {text!r}, {engine}: Python {span}, ours {ours}"


def compare(program, name, questions):
    questions = list(questions)
    asked = "".join(json.dumps(question) + "\n" for question, _ in questions)
    ended = subprocess.run([program], input=asked, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(answers) == len(questions), "one answer a question"
    found, documented = [], 0
    for (question, expected), answer in zip(questions, answers):
        for difference in differences(question, expected, answer):
            documented += difference is None
            found += [difference] if difference else []
    pairs = sum(len(expected[1]) if expected[0] == "spans" else 1 for _, expected in questions)
    spans = [span for answer in answers for span in answer.get("spans", [])]
    unanswered = sum(isinstance(span[2], str) for span in spans)
    linear = sum(not isinstance(span[0], str) for span in spans)
    print(f"{name}: {pairs} compared, {len(found)} differ, {documented} differ as documented, "
          f"{unanswered} beyond the step budget" + (f", {linear} answered linearly" if spans else ""))
    for difference in found[:10]:
        print("  " + difference)
    # an engine that gives no answers is no engine that agrees
    answers_enough = 2 * linear >= len(spans) and 1000 * unanswered <= len(spans)
    if not answers_enough:
        print("  too few answers")
    return not found and answers_enough


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the example answer_python of the text crate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--patterns", type=int, default=20_000, help="pattern and text pairs")
    parser.add_argument("--texts", type=int, default=20_000, help="pairs of texts")
    options = parser.parse_args()
    if sys.version_info[:2] != (3, 11) or sys.implementation.name != "cpython":
        print(f"skipped: the reference is CPython 3.11, this is {sys.version.split()[0]}")
        return 0
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, too_slow)
    same = compare(options.program, "patterns", pattern_questions(random.Random(options.seed), options.patterns))
    same &= compare(options.program, "texts", text_questions(random.Random(options.seed), options.texts))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
