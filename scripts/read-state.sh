#!/bin/sh
# Prints a file of the project: read-state.sh <relative-path>
self=$(readlink -f -- "$0" 2>/dev/null) || self=$0
exec node "$(dirname -- "$self")/../dist/maestro.js" state read -- "$@"
