#!/bin/sh
# Makes the state directory ready: ensure-workspace.sh [STATE_DIR]
self=$(readlink -f -- "$0" 2>/dev/null) || self=$0
[ "$*" != "" ] || set -- .gemini
exec node "$(dirname -- "$self")/../dist/maestro.js" workspace "$@"
