#!/bin/sh
# Read a page as Markdown: scripts/read_page.sh URL [OUT]
# A thin caller of `omh-research web read`; the URL is passed on as one word, whatever is in it.
set -eu
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  echo "usage: $0 URL [OUT]" >&2
  exit 2
fi
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
program="$here/.venv/bin/omh-research"
[ -x "$program" ] || program=omh-research
if [ $# -eq 2 ]; then
  exec "$program" web read --out "$2" -- "$1"
fi
exec "$program" web read -- "$1"
