#!/bin/sh
# Makes the state directory ready: ensure-workspace.sh [STATE_DIR]
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd) || exit 1
exec node "$root/dist/maestro.js" workspace -- "${1:-.gemini}"
