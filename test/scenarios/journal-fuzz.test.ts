import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MaestroError } from "../../src/errors.ts";
import { applyEvent } from "../../src/session/fold.ts";
import { positionOf } from "../../src/session/position.ts";
import type { Session } from "../../src/session/session.ts";
import { decodeRecords, journalStart } from "../../src/store/journal/record.ts";
import { locateState } from "../../src/store/location.ts";
import { SessionStore } from "../../src/store/session-store.ts";
import { resumeLines } from "../../src/views/decision/resume.ts";
import { renderSession } from "../../src/views/record/session-view.ts";
import { listPrices } from "../../src/views/report/prices.ts";
import { reportLines } from "../../src/views/report/report.ts";
import { statusLines } from "../../src/views/status.ts";
import { filesBelow } from "../support/git-repository.ts";
import { everyEvent, fieldsOf, hostileValues, journalOf, type Path, withField } from "../support/hostile-journal.ts";
import { Project } from "../support/project.ts";
import { plain } from "../support/sample-session.ts";

/** All files of these tests are below this directory, so that a write outside of a project is noticed. */
let base: string;
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "maestro-fuzz-")));
});
afterAll(() => rmSync(base, { recursive: true }));

const events = everyEvent();
/** Every field of every event, and the type of the event itself. */
const fields = events.flatMap((event, at) => fieldsOf(event).map((path): [number, Path] => [at, path]));

const forge = (at: number, path: Path, value: unknown) =>
  journalOf(events.map((event, index) => (index === at ? withField(event, path, value) : event)));

const escapes = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e]/;

describe("a journal that another program wrote", () => {
  test("is read whole when nothing is wrong with it", () => {
    expect(readForged(journalOf(events)).read).toMatchObject({ state: "open", session: { seq: events.length } });
  });

  test.each(hostileValues.map((value) => [JSON.stringify(value)?.slice(0, 60), value]))(
    "with %s in any field is refused in one line, or read and drawn",
    (_, value) => {
      for (const [at, path] of fields) {
        const where = `${events[at]?.type} ${path.join(".")}`;
        const folded = foldForged(forge(at, path, value));
        if (typeof folded === "string") expectOneLine(folded, where);
        else draw(folded);
      }
    },
  );

  test("writes nothing outside of its state directory, whatever a field contains", () => {
    const before = filesBelow(base);
    for (const [index, [at, path]] of fields.entries()) {
      const value = hostileValues[index % hostileValues.length];
      const { read, files } = readForged(forge(at, path, value));
      expect(files, `${events[at]?.type} ${path.join(".")}`).toEqual([]);
      if (read.state === "broken") expectOneLine(read.reason, path.join("."));
    }
    expect(filesBelow(base)).toEqual(before);
  });
});

function expectOneLine(reason: string, where: string): void {
  expect(reason.length, where).toBeLessThan(400);
  expect(reason, where).not.toMatch(escapes);
  expect(reason, where).not.toContain("\n");
}

/** The session, or why there is none. */
function foldForged(journal: Buffer): Session | string {
  let session: Session | undefined;
  const decoded = decodeRecords(journal, journalStart, (record) => {
    try {
      session = applyEvent(session, record);
      return undefined;
    } catch (error) {
      if (error instanceof MaestroError) return error.message;
      throw error;
    }
  });
  return "fault" in decoded ? decoded.fault.reason : (session ?? "nothing");
}

function readForged(journal: Buffer) {
  const project = mkdtempSync(join(base, "project-"));
  const state = join(project, "inside", ".gemini", "state");
  mkdirSync(state, { recursive: true });
  writeFileSync(join(state, "progress.jsonl"), journal);
  try {
    const store = new SessionStore(locateState(join(project, "inside"), ".gemini"), {
      now: () => new Date("2026-02-15T00:00:00Z"),
      warn: () => undefined,
    });
    const read = store.read();
    store.close();
    const files = Object.keys(filesBelow(project)).filter((path) => !path.startsWith("inside/.gemini/"));
    return { read, files };
  } finally {
    rmSync(project, { recursive: true });
  }
}

function draw(session: Session): void {
  const now = new Date("2026-02-15T00:00:00Z");
  renderSession(session);
  resumeLines(session, positionOf(session), [], now, plain, new Set());
  statusLines(session, positionOf(session), [], now, plain);
  const decisions = { maxRetries: 2, program: "maestro" };
  reportLines(session, { now, prices: listPrices, paint: plain, width: 100, missingFiles: [], decisions });
}

describe("the commands, on a journal that another program wrote", () => {
  const verbs = [
    ["status"],
    ["report"],
    ["diff", "1"],
    ["logs", "1"],
    ["resume", "--yes"],
    ["verify", "1"],
    ["doctor"],
  ];
  // A process each: one field of each kind, in turn with the values.
  const names = [
    "session_id",
    "base",
    "commit",
    "batch",
    "name",
    "worktree",
    "validation",
    "path",
    "title",
    "text",
    "to",
  ];
  const chosen = names.flatMap((name) => fields.filter(([, path]) => path.at(-1) === name).slice(0, 2));

  test.each(chosen.map(([at, path], index) => [`${events[at]?.type} ${path.join(".")}`, at, path, index] as const))(
    "start nothing, print no escapes and say one thing: %s",
    (_, at, path, index) => {
      const project = new Project();
      try {
        project.write(".bin/gemini", `#!/bin/sh\ntouch ${project.path}/started\n`);
        const values = hostileValues.slice(0, 15);
        for (let turn = 0; turn < 2; turn++) {
          const value = values[(index * 2 + turn) % values.length];
          project.write(".gemini/state/progress.jsonl", forge(at, path, value));
          const verb = verbs[(index * 2 + turn) % verbs.length] as string[];
          const { code, stdout, stderr } = project.maestro(verb, {
            env: { PATH: `${project.path}/.bin:${process.env.PATH}` },
          });
          const said = `${verb.join(" ")} with ${JSON.stringify(value)?.slice(0, 50)}: ${code}\n${stdout}\n${stderr}`;
          expect(`${stdout}${stderr}`.replace(/\n/g, ""), said).not.toMatch(escapes);
          expect(stderr, said).not.toMatch(/This is a defect|at \w+ \(/);
          expect((stderr.match(/^ERROR: /gm) ?? []).length, said).toBeLessThanOrEqual(1);
          expect(project.list(), said).toEqual([".bin", ".gemini", ...(project.exists(".home") ? [".home"] : [])]);
        }
      } finally {
        project.remove();
      }
    },
  );
});
