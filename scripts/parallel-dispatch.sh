#!/bin/sh
# Runs a batch of agents, one per prompt: parallel-dispatch.sh <dispatch-dir>, with <dispatch-dir>/prompts/<agent>.txt
self=$(readlink -f -- "$0" 2>/dev/null) || self=$0
exec node "$(dirname -- "$self")/../dist/maestro.js" dispatch "$@"
