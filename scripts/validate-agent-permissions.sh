#!/bin/sh
# Checks that every agent has only the tools of its tier; silent when all is well
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd) || exit 1
exec node "$root/dist/maestro.js" agents check --quiet "$@"
