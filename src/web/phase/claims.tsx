// What the agent claims beside what Maestro saw: files against changes, validation against proof on a tree.

import type { Session, SessionPhase } from "../../session/session.ts";
import { durationText } from "../../views/text/duration.ts";
import { type ClaimedAndSeen, claimedAndSeen, type FileClaim } from "../model/evidence.ts";

const MAX_FILES = 200;
const SHOWN_CHARS = 12;

export function Claims({ session, phase }: { session: Session; phase: SessionPhase }) {
  const seen = claimedAndSeen(session, phase);
  if (seen.summary === null && seen.proof === null && seen.files.length === 0) return null;
  return (
    <section>
      <h3>Claim and evidence</h3>
      {seen.summary !== null && (
        <p class="summary-text">
          {seen.status !== null && <b>{seen.status}: </b>}
          {seen.summary}
        </p>
      )}
      {seen.missing.length > 0 && <p class="bad-text">Missing in the report: {seen.missing.join(", ")}</p>}
      <div class="beside">
        <div>
          <h4>Claimed</h4>
          {seen.claim === null ? (
            <p class="dim">Nothing about validation.</p>
          ) : (
            <p>
              {seen.claim.result !== null && <b>{seen.claim.result}: </b>}
              {seen.claim.text}
            </p>
          )}
        </div>
        <div>
          <h4>Proved</h4>
          <ProofOf seen={seen} />
        </div>
      </div>
      {seen.files.length > 0 && <FileTable seen={seen} />}
    </section>
  );
}

function ProofOf({ seen: { proof } }: { seen: ClaimedAndSeen }) {
  if (proof === null) return <p class="dim">No validation command has run on this work.</p>;
  const where = proof.tree === null ? "the project as it was" : `tree ${proof.tree.slice(0, SHOWN_CHARS)}`;
  return (
    <>
      <p>
        <b class={proof.result === "pass" ? "good-text" : proof.result === "fail" ? "bad-text" : ""}>{proof.result}</b>{" "}
        on {where}
        {proof.isStale && <span class="stale"> stale: the work changed after this ran</span>}
        {!proof.isStale && proof.later > 0 && (
          <span class="dim">
            ; since then the project changed {proof.later === 1 ? "once" : `${proof.later} times`}
          </span>
        )}
      </p>
      {proof.commands.length === 0 && proof.detail !== "" && <p class="dim">{proof.detail}</p>}
      {proof.commands.map(({ command, exit_code, duration_ms, output, not_worse }) => (
        <details key={command}>
          <summary>
            <code>{command}</code>{" "}
            <span class={exit_code === 0 ? "good-text" : "bad-text"}>
              {exit_code === null ? "no exit code" : `exit ${exit_code}`}
            </span>
            {not_worse && " not worse than before"}, {durationText(duration_ms)}
          </summary>
          <pre class="message">{output === "" ? "(no output)" : output}</pre>
        </details>
      ))}
    </>
  );
}

function FileTable({ seen: { files, unlisted } }: { seen: ClaimedAndSeen }) {
  const shown = files.slice(0, MAX_FILES);
  const left = files.length - shown.length + unlisted;
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="Files">
      <table class="files">
        <thead>
          <tr>
            {["File", "Claimed", "Changed", "Lines"].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((file) => (
            <tr key={file.path}>
              <th scope="row">
                <code>{file.path}</code>
              </th>
              <td>{file.claimed ?? <span class="warn-text">not claimed</span>}</td>
              <td>
                {changedText(file)}
                {file.isOutside && <span class="bad-text"> not owned</span>}
              </td>
              <td>
                {file.added !== null && <span class="plus">+{file.added}</span>}{" "}
                {file.removed !== null && <span class="minus">−{file.removed}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && <p class="dim">and {left} more</p>}
    </div>
  );
}

function changedText({ changed, claimed }: FileClaim) {
  if (changed === null) return <span class="dim">no recorded change</span>;
  return changed === claimed || claimed === null ? changed : `${changed} (claimed as ${claimed})`;
}
