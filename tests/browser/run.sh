#!/usr/bin/env bash
# The tests of the review page: on pages made by hand, then on pages that the program wrote.
# usage: run.sh <program> [directory of the pages]
set -euo pipefail
program=$(realpath "${1:?usage: run.sh <program> [directory]}")
cd "$(dirname "$0")"
pages=${2:-}
if [ -z "$pages" ]; then
  pages=$(mktemp -d)
  trap 'rm -rf "$pages"' EXIT
fi

browser=${CHROMIUM:-/usr/bin/chromium}
if [ ! -x "$browser" ]; then
  if [ -n "${CHROMIUM:-}" ]; then
    echo "CHROMIUM=$CHROMIUM cannot be run" >&2
    exit 2
  fi
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends chromium >/dev/null
fi
if ! cmp -s package-lock.json node_modules/.installed-lock; then
  npm ci --no-audit --no-fund --silent
  cp package-lock.json node_modules/.installed-lock
fi

# Runs all tests; prints one line, and what failed.
tests() {
  local label=$1 log started=$SECONDS state=0
  log=$(mktemp)
  node --test --test-timeout=300000 --test-concurrency=2 --test-reporter=tap >"$log" 2>&1 || state=$?
  count() { sed -n "s/^# $1 //p" "$log" | tail -n 1; }
  echo "$label: $(count pass) of $(count tests) tests passed, $(count fail) failed, $(count skipped) skipped, $((SECONDS - started)) s"
  sed -n 's/^# big: /  big page: /p' "$log"
  [ "$state" = 0 ] || sed -n '/^not ok/,/^  \.\.\.$/p' "$log"
  rm -f "$log"
  return "$state"
}

started=$SECONDS
node make-pages.mjs "$program" "$pages" 2>"$pages.log" || { cat "$pages.log" >&2; exit 1; }
rm -f "$pages.log"
echo "pages of the program: $(find "$pages" -maxdepth 1 -name '*.html' | wc -l) written, $((SECONDS - started)) s"
failed=0
tests "pages made by hand" || failed=1
export SKILL_LIFT_PAGES="$pages" SKILL_LIFT_PROGRAM="$program"
tests "pages of the program" || failed=1
exit "$failed"
