#!/bin/sh
# Checks that every agent has only the tools of its tier; silent when all is well
self=$0
while [ -h "$self" ]; do
  link=$(readlink "$self")
  case $link in /*) self=$link ;; *) self=$(dirname -- "$self")/$link ;; esac
done
root=$(CDPATH='' cd -- "$(dirname -- "$self")/.." && pwd) || exit 1
exec node "$root/dist/maestro.js" agents check --quiet "$@"
