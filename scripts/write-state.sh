#!/bin/sh
# Replaces a file of the project by standard input: write-state.sh <relative-path>
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd) || exit 1
exec node "$root/dist/maestro.js" state write -- "$@"
