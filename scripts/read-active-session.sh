#!/bin/sh
# Prints the active session, or 'No active session'
self=$0
while [ -h "$self" ]; do
  link=$(readlink "$self")
  case $link in /*) self=$link ;; *) self=$(dirname -- "$self")/$link ;; esac
done
root=$(CDPATH='' cd -- "$(dirname -- "$self")/.." && pwd) || exit 1
exec node "$root/dist/maestro.js" state active "$@"
