#!/bin/sh
# Replaces a file of the project by standard input: write-state.sh <relative-path>
self=$(readlink -f -- "$0" 2>/dev/null) || self=$0
(exec 3<&0) 2>/dev/null || { echo "ERROR: Cannot read standard input: it is closed" >&2; exit 1; }
exec node "$(dirname -- "$self")/../dist/maestro.js" state write -- "$@"
