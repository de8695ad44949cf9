import { describe, expect, test } from "vitest";
import { complaintIn } from "../complaint.ts";
import type { Outcome } from "../runtime.ts";
import { judgeGemini } from "./outcome.ts";

/** What Gemini CLI 0.61 writes to stderr in every run. */
const chatter = `Warning: 256-color support not detected. Using a terminal with at least 256-color support is recommended for a better visual experience.
YOLO mode is enabled. All tool calls will be automatically approved.
YOLO mode is enabled. All tool calls will be automatically approved.
Ripgrep is not available. Falling back to GrepTool.
`;
const stack = (
  error: string,
  fields: string,
) => `Error when talking to Gemini API Full report available at: /tmp/x.json ${error}
    at classifyGoogleError (file:///x/chunk-JDPZ4CE3.js:307333:14)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5) {
  ${fields}
}
`;
const errorJson = (code: number | string, message: string, type = "Error") =>
  `${JSON.stringify({ session_id: "b8507a54", error: { type, message, code } }, null, 2)}\n`;
const providerError = (code: number, message: string, status: string) =>
  JSON.stringify({ error: { code, message, status, details: [] } });

describe("exit codes", () => {
  test.each<[string, number, string, string, Outcome["errorType"], RegExp]>([
    [
      "authentication",
      41,
      errorJson(41, "Invalid auth method selected."),
      "auth",
      "auth",
      /could not sign in .*Invalid auth method selected\. .*GEMINI_API_KEY/s,
    ],
    [
      "no input",
      42,
      "No input provided via stdin. Input can be provided by piping.\n",
      "no_input",
      "runtime",
      /No input provided via stdin/,
    ],
    ["sandbox", 44, "Failed to start\n", "sandbox", "runtime", /Failed to start.*GEMINI_SANDBOX/s],
    [
      "settings",
      52,
      "\u001b[31mError in /h/settings.json: Expected property name\u001b[0m\n",
      "bad_settings",
      "runtime",
      /Error in \/h\/settings\.json: Expected property name\./,
    ],
    [
      "turn limit, printed twice",
      53,
      `${errorJson(53, "Reached max session turns.", "FatalTurnLimitedError")}[ERROR] ${errorJson(53, "Reached max session turns.", "FatalTurnLimitedError")}`,
      "turn_limit",
      "runtime",
      /used up its turns \(exit code 53\): Reached max session turns\. Raise model\.maxSessionTurns/,
    ],
    [
      "turn limit, only the second copy",
      53,
      `[ERROR] ${errorJson(53, "Reached max session turns.")}`,
      "turn_limit",
      "runtime",
      /: Reached max session turns\. /,
    ],
    [
      "tool",
      54,
      errorJson("no_space_left", "Error executing tool write_file: disk full"),
      "tool_failed",
      "runtime",
      /disk full/,
    ],
    [
      "untrusted",
      55,
      "\u001b[31mGemini CLI is not running in a trusted directory.\u001b[0m\n",
      "untrusted_folder",
      "runtime",
      /not running in a trusted directory/,
    ],
    [
      "HTTP 400",
      144,
      stack("_ApiError", "status: 400") + errorJson(400, providerError(400, "Invalid argument", "INVALID_ARGUMENT")),
      "bad_request",
      "runtime",
      /rejected the request \(exit code 144\): Invalid argument \(INVALID_ARGUMENT\)\. Check the model/,
    ],
    [
      "HTTP 400 for a wrong key",
      144,
      errorJson(400, providerError(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT")),
      "auth",
      "auth",
      /API key not valid/,
    ],
    ["HTTP 401", 145, errorJson(401, providerError(401, "no", "UNAUTHENTICATED")), "auth", "auth", /sign in/],
    [
      "HTTP 403",
      147,
      errorJson(403, providerError(403, "Permission denied", "PERMISSION_DENIED")),
      "forbidden",
      "auth",
      /Permission denied \(PERMISSION_DENIED\)/,
    ],
    [
      "HTTP 404",
      1,
      stack("ModelNotFoundError: models/x is not found", "code: 404") + errorJson(1, "models/x is not found"),
      "model_not_found",
      "runtime",
      /does not know the model .*models\/x is not found\. Check --model/,
    ],
    [
      "HTTP 500",
      244,
      errorJson(500, providerError(500, "An internal error has occurred.", "INTERNAL")),
      "server_error",
      "runtime",
      /The provider failed .*An internal error has occurred\. \(INTERNAL\)/,
    ],
    [
      "HTTP 500 nested twice",
      244,
      errorJson(1, JSON.stringify({ error: { message: providerError(500, "deep", "INTERNAL") } })),
      "server_error",
      "runtime",
      /: deep \(INTERNAL\)\. /,
    ],
    [
      "HTTP 500 without JSON",
      244,
      "",
      "server_error",
      "runtime",
      /^The provider failed \(exit code 244\)\. Try again later\.$/,
    ],
    [
      "HTTP 503",
      247,
      stack("RetryableQuotaError: The model is overloaded.", "status: 503") +
        errorJson(503, "The model is overloaded."),
      "overloaded",
      "runtime",
      /overloaded/,
    ],
    ["HTTP 418", 162, errorJson(418, "teapot"), "http_418", "runtime", /teapot/],
    [
      "network",
      1,
      errorJson(1, "exception TypeError: fetch failed sending request"),
      "network",
      "runtime",
      /could not be reached .*proxy/s,
    ],
    [
      "usage",
      1,
      "Unknown argument: frobnicate\nUsage: gemini [options] [command]\n\nOptions:\n  -d, --debug\n",
      "usage",
      "runtime",
      /does not accept these arguments \(exit code 1\): Unknown argument: frobnicate\. Check MAESTRO_GEMINI_EXTRA_ARGS/,
    ],
    [
      "anything else",
      1,
      "something broke\n",
      "error",
      "runtime",
      /Gemini CLI failed \(exit code 1\): something broke\./,
    ],
    ["hang-up", 129, "", "sighup", "runtime", /killed by SIGHUP, not by Maestro/],
    [
      "interrupt",
      130,
      errorJson(130, "Operation cancelled.", "FatalCancellationError"),
      "sigint",
      "runtime",
      /SIGINT.*Operation cancelled/s,
    ],
    ["abort", 134, "FATAL ERROR: Reached heap limit\n", "sigabrt", "runtime", /Reached heap limit/],
    ["kill", 137, "", "sigkill", "runtime", /SIGKILL.*MAESTRO_MAX_CONCURRENT/],
    ["crash", 139, "", "sigsegv", "runtime", /SIGSEGV/],
    ["terminate", 143, "", "sigterm", "runtime", /SIGTERM/],
    ["not found", 127, "", "not_found", "runtime", /PATH/],
    ["unknown", 99, "", "exit_99", "runtime", /exit code 99/],
  ])("%s (%i, F15-F17)", (_, exitCode, stderr, reason, errorType, message) => {
    const outcome = judgeGemini({ exitCode, killed: null, stdout: "", stderr: chatter + stderr });
    expect(outcome).toMatchObject({ kind: "failure", reason, errorType, text: "", usage: null });
    expect(outcome.message).toMatch(message);
    expect(outcome.message).not.toMatch(/YOLO|256-color|[\u0000-\u0008\u001b]/);
  });
});

test.each([
  "Warning: True color (24-bit) support not detected. Using a terminal with true color enabled will result in a better visual experience.",
  "Warning: Limited color support detected (TERM=screen). Some visual elements may not render correctly.",
  "Warning: Basic terminal detected (TERM=dumb). Visual rendering will be limited.",
  "Warning: 256-color support not detected.",
  "YOLO mode is enabled. All tool calls will be automatically approved.",
])("what Gemini CLI says about every start is not a complaint: %s", (line) => {
  expect(complaintIn(`${line}\n`, 200)).toBe("");
  expect(complaintIn(`${line}\nWarning: the disk is full\n`, 200)).toBe("Warning: the disk is full");
});
