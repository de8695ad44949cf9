#!/bin/sh
# Makes the state directory ready: ensure-workspace.sh [STATE_DIR]
self=$0
while [ -h "$self" ]; do
  link=$(readlink "$self")
  case $link in /*) self=$link ;; *) self=$(dirname -- "$self")/$link ;; esac
done
root=$(CDPATH='' cd -- "$(dirname -- "$self")/.." && pwd) || exit 1
[ $# -gt 0 ] && [ -n "$1" ] || set -- .gemini
exec node "$root/dist/maestro.js" workspace "$@"
