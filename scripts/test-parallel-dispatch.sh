#!/bin/sh
# Proves parallel dispatch on this machine: two real agents, each writes the time to a file of its own. It calls the model twice.
self=$(readlink -f -- "$0" 2>/dev/null) || self=$0
scripts=$(cd -- "$(dirname -- "$self")" && pwd) || exit 1
placeholder="nothing yet"

if ! command -v gemini >/dev/null 2>&1; then
  echo "ERROR: gemini was not found on PATH, so there is nothing to test with" >&2
  echo "  Install it: npm install -g @google/gemini-cli" >&2
  exit 3
fi

workspace=$(mktemp -d "${TMPDIR:-/tmp}/maestro-parallel-dispatch.XXXXXX") || exit 1
echo "Workspace: $workspace"
cd -- "$workspace" && mkdir -p src batch/prompts || exit 1
for name in a b; do
  echo "$placeholder" >"src/file-$name.txt"
  cat >"batch/prompts/coder.agent-$name.txt" <<EOF
Replace the whole content of one file by the current time. Two steps, nothing else:

1. Run the shell command: date -u +%Y-%m-%dT%H:%M:%SZ
2. With write_file, write what it printed to src/file-$name.txt

Read, create and change no other file. Answer with the line that you wrote.
EOF
done

MAESTRO_AGENT_TIMEOUT=5 "$scripts/parallel-dispatch.sh" batch
failures=$?

echo
echo "Summary (batch/results/summary.json):"
cat batch/results/summary.json 2>/dev/null || echo "  there is none"
for name in a b; do
  echo
  echo "Log of agent-$name (batch/results/coder.agent-$name.log):"
  tail -n 40 "batch/results/coder.agent-$name.log" 2>/dev/null || echo "  there is none"
done

echo
result=0
[ "$failures" -eq 0 ] || result=1
for name in a b; do
  content=$(cat "src/file-$name.txt" 2>/dev/null)
  case $content in
    "" | "$placeholder") echo "src/file-$name.txt: not changed"; result=1 ;;
    *) echo "src/file-$name.txt: $content" ;;
  esac
done

if [ "$result" -eq 0 ]; then
  echo "SUCCESS: both agents ran and wrote their files"
else
  echo "FAILURE: parallel dispatch does not work here (exit code of the dispatch: $failures)"
fi
echo "To clean up: rm -rf '$workspace'"
exit "$result"
