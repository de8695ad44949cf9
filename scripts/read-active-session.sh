#!/bin/sh
# Prints the active session, or 'No active session'
self=$(readlink -f -- "$0" 2>/dev/null) || self=$0
exec node "$(dirname -- "$self")/../dist/maestro.js" state active "$@"
