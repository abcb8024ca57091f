#!/bin/sh
# Search the web: scripts/search.sh QUERY [N] [OUT]
# A thin caller of `omh-research web search`; the query is passed on as one word, whatever is in it.
set -eu
if [ $# -lt 1 ] || [ $# -gt 3 ]; then
  echo "usage: $0 QUERY [N] [OUT]" >&2
  exit 2
fi
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
program="$here/.venv/bin/omh-research"
[ -x "$program" ] || program=omh-research
query=$1
count=${2:-10}
if [ $# -eq 3 ]; then
  exec "$program" web search -n "$count" --out "$3" -- "$query"
fi
exec "$program" web search -n "$count" -- "$query"
