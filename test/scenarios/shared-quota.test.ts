// Two sessions with one credential: a rejection of one of them also slows the other, and no session with another credential.

import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { quick } from "../support/engine-run.ts";
import { background, journalOf, maestro, TEST_TIMEOUT_MS, until, withProcesses } from "../support/processes.ts";
import { planPath } from "../support/project.ts";
import { played, prepare, scripted } from "../support/stand-in.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const WAIT_S = 6;

test("a rejection of one session makes the other wait, and no session with another credential", () =>
  withProcesses((one) =>
    withProcesses((other) =>
      withProcesses(async (third) => {
        const shared = { XDG_STATE_HOME: join(one.path, ".state"), GEMINI_API_KEY: "key-0123456789-of-both" };
        const waiting = prepare(other, [played(1, [["signal", "go"]]), scripted(2, {}, { blocked_by: [1] })]);
        const waits = background(other, ["run", planPath, ...quick], waiting.env(shared));
        await until("the other session runs", () => waiting.notes("start").length === 1);
        const rejected = prepare(one, [played(1, [["quota", WAIT_S]])]);
        const first = background(one, ["run", planPath, ...quick], rejected.env(shared));
        const hit = await until("the provider rejects one session", () =>
          journalOf(one).find((record) => record.type === "quota.hit"),
        );
        const ends = Date.parse(String(hit.until));
        other.write(".bin/go", "");

        const shown = JSON.parse((await maestro(third, ["quota", "--json"], shared)).stdout).credentials;
        expect(shown).toMatchObject([{ kind: "GEMINI_API_KEY", limited: true, slots: 1 }]);
        expect(shown[0].sessions).toHaveLength(2);

        const free = prepare(third, [scripted(1, {})]);
        const env = free.env({ ...shared, GEMINI_API_KEY: "key-0123456789-of-its-own" });
        const run = await maestro(third, ["run", planPath, ...quick], env);
        expect(run.code, run.stderr).toBe(0);
        expect(run.stderr).not.toContain("rejected another session");

        expect((await waits.ended).code, waits.stderr()).toBe(0);
        expect((await first.ended).code, first.stderr()).toBe(0);
        expect(waits.stderr()).toContain("The provider rejected another session with the same credential");
        const [, second] = waiting.notes("start");
        expect(second).toMatchObject({ phase: "2" });
        expect(second?.at).toBeGreaterThanOrEqual(ends - 50);
        expect(rejected.notes("start")[1]?.at).toBeGreaterThanOrEqual(ends - 50);
        // The sessions are over: nothing is left of them.
        expect((await maestro(third, ["quota"], shared)).stdout).toMatch(/0 attempts running|No session uses/);
      }),
    ),
  ));
