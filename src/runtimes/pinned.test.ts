import { describe, expect, test } from "vitest";
import { parseDotenv } from "../dotenv.ts";
import { definitions } from "../settings.ts";
import { geminiRuntime } from "./gemini/gemini.ts";
import { type EnvFiles, ignoredNames, pinnedVariables, wellKnown } from "./pinned.ts";
import { isSteering } from "./steering.ts";

const files = (project: string[], home: string | null = null, name = "/home/.gemini/.env"): EnvFiles => ({
  project: project.map((text, at) => ({ path: `/p${at}/.env`, text })),
  home: home === null ? null : { path: name, text: home },
});
const pinned = (exported: Record<string, string>, given: EnvFiles = files([]), always: readonly string[] = wellKnown) =>
  pinnedVariables(exported, given, always);

describe("a pinned variable", () => {
  test("has the user's value, otherwise the one from the user's home, otherwise an empty one", () => {
    const project = ["GEMINI_API_KEY=theirs\nGEMINI_MODEL=theirs\nGOOGLE_CLOUD_PROJECT=theirs\nDATABASE_URL=theirs"];
    const home = "GEMINI_API_KEY=home\nGEMINI_MODEL=home\nDATABASE_URL=home\n";
    expect(pinned({ GEMINI_API_KEY: "mine", PATH: "/bin" }, files(project, home))).toMatchObject({
      PATH: "/bin",
      GEMINI_API_KEY: "mine",
      GEMINI_MODEL: "home",
      GOOGLE_CLOUD_PROJECT: "",
    });
    expect(pinned({}, files(project, home))).not.toHaveProperty("DATABASE_URL");
  });

  test("is any that a file in the directory or above it names, however it is written", () => {
    const texts = [
      "export X_BASE_URL=1",
      "GEMINI_NEW_THING: 1",
      "# LD_PRELOAD=x",
      "A='\nNODE_DEBUG=1'",
      "https_proxy =1",
    ];
    const pins = pinned({}, files(texts));
    for (const name of ["X_BASE_URL", "GEMINI_NEW_THING", "LD_PRELOAD", "NODE_DEBUG", "https_proxy"]) {
      expect([name, pins[name]]).toEqual([name, ""]);
    }
  });

  test("is pinned without any file when it is well known", () => {
    const pins = pinned({}, files([]), [...wellKnown, ...geminiRuntime.pinned]);
    const known = ["NODE_OPTIONS", "BASH_ENV", "LD_PRELOAD", "HTTPS_PROXY", "https_proxy", "GOOGLE_GEMINI_BASE_URL"];
    for (const name of [...known, "NODE_TLS_REJECT_UNAUTHORIZED", "GITHUB_SHA", ...Object.keys(definitions)]) {
      expect([name, pins[name]]).toEqual([name, ""]);
    }
  });

  test("has the same value in both cases for a proxy, because programs read either", () => {
    const pins = pinned({ HTTPS_PROXY: "http://mine", no_proxy: "localhost" });
    expect(pins).toMatchObject({ HTTPS_PROXY: "http://mine", https_proxy: "http://mine" });
    expect(pins).toMatchObject({ NO_PROXY: "localhost", no_proxy: "localhost", http_proxy: "" });
  });

  test("has the program's own default where an empty value would mean something else", () => {
    const text = "CODE_ASSIST_ENDPOINT=x\nGEMINI_TELEMETRY_TARGET=gcp\nSEATBELT_PROFILE=evil";
    expect(pinned({}, files([text]))).toMatchObject({
      CODE_ASSIST_ENDPOINT: "https://cloudcode-pa.googleapis.com",
      GEMINI_TELEMETRY_TARGET: "local",
      SEATBELT_PROFILE: "permissive-open",
    });
  });

  test("is a steering variable: nothing else is pinned", () => {
    expect([...wellKnown, ...geminiRuntime.pinned].filter((name) => !isSteering(name))).toEqual([]);
  });

  test("is empty for what only the engine may know, also when the user's home sets it", () => {
    const pins = pinned({}, files([], "MAESTRO_WORKER_KEY=key\nMAESTRO_QUEUE_PASSWORD=word\n"), []);
    expect(pins).toEqual({ MAESTRO_WORKER_KEY: "", MAESTRO_QUEUE_PASSWORD: "" });
  });

  test("does not set the home directory, nor, from a plain .env, debug options", () => {
    const home = "HOME=/evil\nPATH=/evil\nGEMINI_CLI_HOME=/evil\nDEBUG=1\nGEMINI_MODEL=m\n";
    expect(pinned({ HOME: "/home" }, files([], home, "/home/.env"))).not.toHaveProperty("DEBUG");
    expect(pinned({ HOME: "/home" }, files([], home))).toMatchObject({ HOME: "/home", DEBUG: "1", GEMINI_MODEL: "m" });
    expect(pinned({}, files([], home))).not.toHaveProperty("GEMINI_CLI_HOME");
  });
});

test("ignored settings of a project are reported by file, except those the user exports", () => {
  const given = files(
    ["GEMINI_API_KEY=1\nPORT=1\n#NODE_OPTIONS=1\nexport A_PROXY=1", "PORT=1", "LD_X=1"],
    "GEMINI_MODEL=m",
  );
  expect(ignoredNames({ GEMINI_API_KEY: "mine" }, given)).toEqual([
    { path: "/p0/.env", names: ["A_PROXY"] },
    { path: "/p2/.env", names: ["LD_X"] },
  ]);
});

test.each([
  ["A=1", { A: "1" }],
  ["export A = 1 # no", { A: "1" }],
  ["A: 'x # y'", { A: "x # y" }],
  ['A="x\\ny"\r\nB=`z`', { A: "x\ny", B: "z" }],
  ["A='1\n2'\nB=", { A: "1\n2", B: "" }],
])("reads the home's file as dotenv does: %j", (text, values) => {
  expect(Object.fromEntries(parseDotenv(text))).toEqual(values);
});
