import { describe, expect, test } from "vitest";
import { writeStateFile } from "../../src/store/files/state-file.ts";
import { decodeRecords, journalStart } from "../../src/store/journal/record.ts";
import { createSession, programPath, withProject } from "../support/project.ts";
import { status } from "../support/status.ts";

describe("sixteen processes with fifty updates each (F9, P2)", () => {
  test("record 800 of 800, with a gapless journal and a view that equals it", async () => {
    await withProject(async (project) => {
      createSession(project);
      const writers = Array.from({ length: 16 }, (_, index) => {
        const child = project.start(process.execPath, [programPath("writer"), project.path, `w${index}`, "50"]);
        let acknowledged = "";
        let complaints = "";
        child.stdout.on("data", (chunk) => (acknowledged += chunk));
        child.stderr.on("data", (chunk) => (complaints += chunk));
        return new Promise<{ code: number | null; acknowledged: string; complaints: string }>((resolve) =>
          child.once("close", (code) => resolve({ code, acknowledged, complaints })),
        );
      });
      const ends = await Promise.all(writers);
      expect(ends.map(({ code, complaints }) => [code, complaints])).toEqual(Array(16).fill([0, ""]));

      // The view first: reading the status would repair it.
      const view = project.read(".gemini/state/active-session.md");
      expect(project.list(".gemini/state")).toEqual(["active-session.md", "archive", "progress.jsonl"]);
      const acknowledged = ends.flatMap((end) => end.acknowledged.trim().split("\n"));
      expect(new Set(acknowledged).size).toBe(800);

      const sequence: number[] = [];
      const journal = Buffer.from(project.read(".gemini/state/progress.jsonl"));
      expect(decodeRecords(journal, journalStart, (record) => void sequence.push(record.seq))).toMatchObject({
        tail: { kind: "none" },
      });
      expect(sequence).toEqual(Array.from({ length: 801 }, (_, index) => index + 1));

      const session = status(project);
      expect(new Set(session.phases[0].files_created)).toEqual(new Set(acknowledged));
      expect(session.seq).toBe(801);
      expect(view).toContain("maestro:view seq=801 ");
      expect(project.read(".gemini/state/active-session.md")).toBe(view);
    });
  }, 120_000);

  test("record all of them also when every update is a command of its own", async () => {
    await withProject(async (project) => {
      createSession(project);
      const dist = new URL("../../dist/maestro.js", import.meta.url).pathname;
      const one = (worker: number) => async () => {
        for (let i = 0; i < 4; i++) {
          const child = project.start(process.execPath, [dist, "session", "note", `${worker}-${i}`]);
          child.stdin.end();
          expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
        }
      };
      await Promise.all(Array.from({ length: 8 }, (_, index) => one(index)()));
      const session = status(project);
      expect(session.notes).toHaveLength(32);
      expect(session.seq).toBe(33);
    });
  }, 60_000);
});

describe("edits of the view while another process keeps drawing it", () => {
  test("are adopted or kept aside, every one of them", async () => {
    await withProject(async (project) => {
      createSession(project);
      const view = ".gemini/state/active-session.md";
      const writer = project.start(process.execPath, [programPath("writer"), project.path, "busy", "100000"]);
      let acknowledged = 0;
      writer.stdout.on("data", () => (acknowledged += 1));
      await new Promise((resolve) => writer.stdout.once("data", resolve));
      const edits = 40;
      for (let i = 0; i < edits; i++) {
        const edited = project.read(view).replace(/files_deleted:( \[\])?\n/, `files_deleted:\n      - "edit-${i}"\n`);
        expect(edited).toContain(`edit-${i}`);
        writeStateFile(project.path, view, Buffer.from(edited));
        // Let the writers continue until the edit has been judged.
        while (project.read(view) === edited) await new Promise((resolve) => setTimeout(resolve, 2));
      }
      writer.kill("SIGKILL");
      await new Promise((resolve) => writer.once("close", resolve));
      const { phases } = status(project);
      const kept = project.list(".gemini/state").filter((name) => name.startsWith("active-session.md."));
      const everything = [
        ...phases[0].files_deleted,
        ...kept.map((name) => project.read(`.gemini/state/${name}`)),
      ].join("\n");
      const lost = Array.from({ length: edits }, (_, i) => `edit-${i}`).filter(
        (edit) => !new RegExp(`${edit}\\b`).test(everything),
      );
      expect(lost).toEqual([]);
      expect(acknowledged).toBeGreaterThan(0);
    });
  }, 120_000);
});
