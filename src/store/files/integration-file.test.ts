import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MaestroError } from "../../errors.ts";
import { locateState, type StateLocation } from "../location.ts";
import {
  describeIntent,
  type Intent,
  readIntent,
  removeIntent,
  setIntentAside,
  writeIntent,
} from "./integration-file.ts";

let root: string;
let location: StateLocation;
let file: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "maestro-intent-")));
  location = locateState(root, ".gemini");
  file = join(root, ".gemini", "state", "integration.json");
});
afterEach(() => rmSync(root, { recursive: true }));

const intent: Intent = {
  session: "2026-02-14-task-api",
  phase: "3",
  attempt: 2,
  what: "integrate",
  from: "a".repeat(40),
  to: "b".repeat(64),
};
const state = () => readdirSync(join(root, ".gemini", "state"));

describe("the record of a change that is about to happen", () => {
  test("is read back as written, is readable by its owner only, and can be removed", () => {
    expect(readIntent(location)).toBeUndefined();
    writeIntent(location, intent);
    expect(readIntent(location)).toEqual(intent);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ v: 1, ...intent });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    removeIntent(location);
    expect(readIntent(location)).toBeUndefined();
    expect(state()).toEqual([]);
    removeIntent(location);
  });

  test("is never overwritten", () => {
    writeIntent(location, intent);
    expect(() => writeIntent(location, { ...intent, phase: "4" })).toThrow(
      "Integrating attempt 2 of phase 3 (session 2026-02-14-task-api) was started but not finished",
    );
    expect(readIntent(location)).toEqual(intent);
  });

  test("is written only with valid object ids", () => {
    expect(() => writeIntent(location, { ...intent, to: "--output=x" })).toThrow();
    expect(existsSync(file)).toBe(false);
  });

  test.each<[what: string, put: () => void, why: string]>([
    ["half a file", () => writeFileSync(file, '{"v":1,"ses'), "it is not JSON"],
    ["an empty file", () => writeFileSync(file, ""), "it is not JSON"],
    ["another version", () => put({ v: 2, ...intent }), "it was written by another version of Maestro"],
    ["no version", () => put({ ...intent }), "it was written by another version of Maestro"],
    ["an array", () => put([]), "it must be an object"],
    [
      "an object id that git would read as an option",
      () => put({ v: 1, ...intent, from: "--output=/tmp/x" }),
      "from must be ",
    ],
    ["a missing key", () => put({ v: 1, ...intent, phase: undefined }), "phase must be "],
    ["an unknown key", () => put({ v: 1, ...intent, also: true }), "also must be left out"],
    ["an unknown operation", () => put({ v: 1, ...intent, what: "delete" }), "what must be "],
    ["a directory", () => mkdirSync(file), "it is not a regular file"],
    ["a link", () => symlinkSync("/etc/hostname", file), "it is not a regular file"],
    ["a file that is too large", () => writeFileSync(file, " ".repeat(70_000)), "it has 70000 bytes"],
  ])("%s is an error that names the file, and can be set aside", (_what, make, why) => {
    mkdirSync(join(root, ".gemini", "state"), { recursive: true });
    make();
    const said = errorOf(() => readIntent(location));
    expect(said).toMatchObject({ code: "parse_failed", hint: expect.stringContaining("maestro doctor --fix") });
    expect(said?.message).toContain(".gemini/state/integration.json: ");
    expect(said?.message).toContain(why);
    expect(() => writeIntent(location, intent), "it is not overwritten either").toThrow(MaestroError);
    const aside = setIntentAside(location, new Date("2026-02-14T23:00:00Z"));
    expect(aside).toBe(".gemini/state/integration.json.corrupt-20260214T230000Z");
    expect(state()).toEqual(["integration.json.corrupt-20260214T230000Z"]);
    expect(readIntent(location)).toBeUndefined();
  });

  test("cannot be set aside when it does not exist", () => {
    expect(setIntentAside(location, new Date())).toBeUndefined();
    expect(existsSync(join(root, ".gemini"))).toBe(false);
  });

  test.each([
    ["integrate", "Integrating"],
    ["apply", "Applying"],
    ["revert", "Reverting"],
  ] as const)("of the kind %s is described to the user", (what, word) => {
    expect(describeIntent({ ...intent, what })).toBe(`${word} attempt 2 of phase 3 (session 2026-02-14-task-api)`);
  });
});

function put(value: unknown): void {
  writeFileSync(file, JSON.stringify(value));
}

function errorOf(work: () => unknown): MaestroError | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof MaestroError) return error;
    throw error;
  }
}
