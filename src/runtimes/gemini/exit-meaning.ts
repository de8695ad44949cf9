// What an exit code of Gemini CLI means and what the user can do about it; measured with 0.61. HTTP errors exit with the status mod 256, so
// 429 is 173; death by signal n is 128 + n.
import type { ErrorClass } from "../../handoff/output/error-type.ts";
import type { ErrorDocument } from "./error-document.ts";

export interface Meaning {
  reason: string;
  errorType: ErrorClass;
  what: string;
  /** What the user can do; empty when only a retry helps. */
  advice: string;
}

const meaning = (reason: string, what: string, advice = "", errorType: ErrorClass = "runtime"): Readonly<Meaning> => ({
  reason,
  errorType,
  what,
  advice,
});

const auth = meaning(
  "auth",
  "Gemini CLI could not sign in",
  "Start `gemini` once in a terminal and sign in, or set GEMINI_API_KEY.",
  "auth",
);
const unknownModel = meaning(
  "model_not_found",
  "The provider does not know the model",
  "Check --model, MAESTRO_DEFAULT_MODEL, MAESTRO_WRITER_MODEL and the agent's front matter.",
);

const byExitCode: ReadonlyMap<number, Meaning> = new Map([
  [41, auth],
  [42, meaning("no_input", "Gemini CLI got no prompt, or a session it cannot use", "Check MAESTRO_GEMINI_EXTRA_ARGS.")],
  [44, meaning("sandbox", "Gemini CLI could not start its sandbox", "Check GEMINI_SANDBOX and the CLI's settings.")],
  [52, meaning("bad_settings", "Gemini CLI cannot read its settings", "Fix the file it names.")],
  [
    53,
    meaning(
      "turn_limit",
      "The agent used up its turns",
      "Raise model.maxSessionTurns in the CLI's settings, or make the phase smaller.",
    ),
  ],
  [54, meaning("tool_failed", "A tool of Gemini CLI failed permanently")],
  [
    55,
    meaning(
      "untrusted_folder",
      "Gemini CLI does not trust the project folder",
      "Start `gemini` in it once and trust it.",
    ),
  ],
  [126, meaning("not_executable", "The program cannot be executed", "Check its permissions.")],
  [127, meaning("not_found", "The program was not found", "Check PATH.")],
]);

const byStatus: ReadonlyMap<number, Meaning> = new Map([
  [400, meaning("bad_request", "The provider rejected the request", "Check the model and the size of the prompt.")],
  [401, auth],
  [403, meaning("forbidden", "The provider does not permit it", "Check what the key and the project may use.", "auth")],
  [404, unknownModel],
  [413, meaning("request_too_large", "The request is too large for the provider", "Make the phase smaller.")],
  [503, meaning("overloaded", "The provider is overloaded", "Try again later, or with another model.")],
]);
/** HTTP statuses whose exit codes no signal produces. */
const statusOfExitCode = new Map([400, 401, 403, 429, 500, 502, 503, 504].map((status) => [status & 255, status]));

const lackOfMemory = "If the system ran out of memory, run fewer agents at once (MAESTRO_MAX_CONCURRENT).";
const signals: ReadonlyMap<number, [name: string, advice: string]> = new Map([
  [1, ["SIGHUP", ""]],
  [2, ["SIGINT", ""]],
  [3, ["SIGQUIT", ""]],
  [4, ["SIGILL", ""]],
  [6, ["SIGABRT", lackOfMemory]],
  [7, ["SIGBUS", ""]],
  [8, ["SIGFPE", ""]],
  [9, ["SIGKILL", lackOfMemory]],
  [11, ["SIGSEGV", ""]],
  [13, ["SIGPIPE", ""]],
  [15, ["SIGTERM", ""]],
  [24, ["SIGXCPU", ""]],
  [25, ["SIGXFSZ", "It wrote a file larger than the limit allows (ulimit -f)."]],
]);

/** `error` is the error printed with the code; its text separates cases to which the CLI gives the same code. */
export function meaningOf(exitCode: number, error: ErrorDocument | null, stderr: string): Meaning {
  const said = error === null ? "" : `${error.type}\n${error.message}`;
  // Google answers 400 for an unknown key.
  if (/API[ _]key not valid|API_KEY_INVALID|UNAUTHENTICATED|FatalAuthenticationError/.test(said)) return auth;

  const status = error?.status ?? statusOfExitCode.get(exitCode) ?? statusInStack(exitCode, stderr);
  if (status !== undefined) return byStatus.get(status) ?? otherStatus(status);
  const known = byExitCode.get(exitCode);
  if (known !== undefined) return known;
  const signal = signals.get(exitCode - 128);
  if (signal !== undefined) {
    return meaning(signal[0].toLowerCase(), `The agent was killed by ${signal[0]}, not by Maestro`, signal[1]);
  }
  if (exitCode !== 1) return meaning(`exit_${exitCode}`, "Gemini CLI failed");
  return meaningOfOne(said, stderr);
}

/** The HTTP status in the stack trace on stderr, if the exit code agrees: a stream's error does not name it. */
function statusInStack(exitCode: number, stderr: string): number | undefined {
  const named = [...stderr.matchAll(/^ +status: ([45]\d\d),?$/gm)].map(([, status]) => Number(status));
  return named.findLast((status) => (status & 255) === exitCode);
}

/** The CLI exits with 1 for everything else. */
function meaningOfOne(said: string, stderr: string): Meaning {
  if (/^Usage: gemini\b/m.test(stderr)) {
    return meaning("usage", "Gemini CLI does not accept these arguments", "Check MAESTRO_GEMINI_EXTRA_ARGS.");
  }
  if (/\bModelNotFoundError\b/.test(`${said}\n${stderr}`)) return unknownModel;
  if (/\bfetch failed\b|\bE(?:CONNREFUSED|CONNRESET|NOTFOUND|TIMEDOUT|AI_AGAIN)\b|socket hang up/.test(said)) {
    return meaning("network", "The provider could not be reached", "Check the network and the proxy settings.");
  }
  return meaning("error", "Gemini CLI failed");
}

function otherStatus(status: number): Meaning {
  return status >= 500
    ? meaning("server_error", "The provider failed", "Try again later.")
    : meaning(`http_${status}`, "The provider rejected the request");
}
