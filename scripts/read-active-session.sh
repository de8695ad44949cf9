#!/bin/sh
# Prints the active session, or 'No active session'
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd) || exit 1
exec node "$root/dist/maestro.js" state active "$@"
