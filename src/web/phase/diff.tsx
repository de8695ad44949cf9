// The diff of an attempt. Large files and lock files are folded, never left out; changed words are marked. Text nodes only.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { plural } from "../../views/text/amount.ts";
import { visible } from "../../views/text/visible.ts";
import { attemptPath, getText } from "../app/api.ts";
import { connection, frame, sessionId } from "../app/state.ts";
import { type DiffFile, type DiffRow, diffFiles } from "../model/diff-rows.ts";

const signs = { added: "+", removed: "−", same: " ", hunk: "" };
/** Rows of one file that are drawn at first; the rest on request. */
const FIRST_ROWS = 1500;

export function DiffOf({ phase, attempt }: { phase: string; attempt: number }) {
  const loaded = useSignal<{ files: DiffFile[] } | { error: string } | null>(null);
  const session = sessionId.value;
  const commit = commitOf(phase, attempt);
  useEffect(() => {
    loaded.value = null;
    if (connection.value === "report" || session === null) return;
    void getText(attemptPath(session, phase, attempt, "diff")).then((answer) => {
      loaded.value = "text" in answer ? { files: diffFiles(answer.text) } : answer;
    });
  }, [session, phase, attempt, commit]);
  if (connection.value === "report") return <Recorded phase={phase} attempt={attempt} />;
  const shown = loaded.value;
  if (shown === null) return <p class="empty">Reading the diff.</p>;
  if ("error" in shown) return <Recorded phase={phase} attempt={attempt} note={shown.error} />;
  if (shown.files.length === 0) return <p class="empty">The attempt changed nothing.</p>;
  const [added, removed] = [sum(shown.files, "added"), sum(shown.files, "removed")];
  return (
    <div class="diff">
      <p class="dim">
        {plural(shown.files.length, "file")}, <span class="plus">+{added}</span> <span class="minus">−{removed}</span>
      </p>
      {shown.files.map((file) => (
        <FileDiff key={`${file.from} ${file.path}`} file={file} />
      ))}
    </div>
  );
}

function FileDiff({ file }: { file: DiffFile }) {
  const isOpen = useSignal(file.folded === null);
  const isWhole = useSignal(false);
  const rows = isWhole.value ? file.rows : file.rows.slice(0, FIRST_ROWS);
  return (
    <details
      class="file"
      open={isOpen.value}
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>
        <code>
          {file.from !== null && `${visible(file.from)} → `}
          {visible(file.path)}
        </code>{" "}
        <span class="dim">{file.kind}</span> <span class="plus">+{file.added}</span>{" "}
        <span class="minus">−{file.removed}</span>
        {file.folded !== null && <span class="dim"> {file.folded}</span>}
      </summary>
      {isOpen.value && (
        <div class="table-box" tabIndex={0} role="region" aria-label={`Diff of ${file.path}`}>
          {file.isBinary ? (
            <p class="dim">Binary file, or no change of its text.</p>
          ) : (
            <table class="lines">
              <tbody>
                {rows.map((row, at) => (
                  <LineRow key={at} row={row} />
                ))}
              </tbody>
            </table>
          )}
          {rows.length < file.rows.length && (
            <button type="button" onClick={() => (isWhole.value = true)}>
              Show {file.rows.length - rows.length} more lines
            </button>
          )}
        </div>
      )}
    </details>
  );
}

function LineRow({ row }: { row: DiffRow }) {
  return (
    <tr class={row.kind}>
      <td class="number">{row.before}</td>
      <td class="number">{row.after}</td>
      <td class="sign">{signs[row.kind]}</td>
      <td class="text">
        {row.words === undefined
          ? visible(row.text)
          : row.words.map(({ text, isChanged }, at) =>
              isChanged ? <mark key={at}>{visible(text)}</mark> : <span key={at}>{visible(text)}</span>,
            )}
      </td>
    </tr>
  );
}

/** Without the objects of git: the changed files, as the journal recorded them. */
function Recorded({ phase, attempt, note }: { phase: string; attempt: number; note?: string }) {
  const found = frame.value?.session.phases.find(({ id }) => id === phase);
  const changes = found?.attempts.find((one) => one.attempt === attempt)?.changes;
  const where = `maestro diff ${phase} --attempt ${attempt}`;
  return (
    <div class="diff">
      <p class="dim">{note ?? `A report holds the journal alone. The lines are in the project: ${where}`}</p>
      {changes === undefined ? (
        <p class="empty">No recorded changes.</p>
      ) : (
        <ul class="plain">
          {changes.files.map(({ path, kind, added, removed }) => (
            <li key={path}>
              <code>{visible(path)}</code> <span class="dim">{kind}</span>{" "}
              {added !== null && <span class="plus">+{added}</span>}{" "}
              {removed !== null && <span class="minus">−{removed}</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function commitOf(phase: string, attempt: number): string | null {
  const found = frame.value?.session.phases.find(({ id }) => id === phase);
  return found?.attempts.find((one) => one.attempt === attempt)?.changes?.commit ?? null;
}

function sum(files: readonly DiffFile[], of: "added" | "removed"): number {
  return files.reduce((total, file) => total + file[of], 0);
}
