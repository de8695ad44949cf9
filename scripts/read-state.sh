#!/bin/sh
# Prints a file of the project: read-state.sh <relative-path>
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd) || exit 1
exec node "$root/dist/maestro.js" state read -- "$@"
