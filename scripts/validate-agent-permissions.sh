#!/bin/sh
# Checks that every agent has only the tools of its tier; silent when all is well
self=$(readlink -f -- "$0" 2>/dev/null) || self=$0
exec node "$(dirname -- "$self")/../dist/maestro.js" agents check --quiet "$@"
