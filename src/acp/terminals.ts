// Runs commands for an agent and keeps the end of what they print. They stay in the process group of the attempt, which ends with it.

import { type ChildProcess, spawn } from "node:child_process";
import { MaestroError } from "../errors.ts";

export interface TerminalCommand {
  command: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** How much of its output is kept. */
  bytes: number;
}

export interface TerminalExit {
  exitCode: number | null;
  signal: string | null;
}

interface Terminal {
  child: ChildProcess;
  output: Buffer;
  isCut: boolean;
  exit: TerminalExit | null;
  ended: Promise<TerminalExit>;
}

export class Terminals {
  readonly #running = new Map<string, Terminal>();
  #count = 0;

  create({ command, args, cwd, env, bytes }: TerminalCommand): string {
    // Some agents send a whole command line as the command.
    const words = args.length === 0 && /\s/.test(command) ? ["/bin/sh", "-c", command] : [command, ...args];
    const [program = "", ...rest] = words;
    const child = spawn(program, rest, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    const terminal: Terminal = { child, output: Buffer.alloc(0), isCut: false, exit: null, ended: endOf(child) };
    void terminal.ended.then((exit) => (terminal.exit = exit));
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk: Buffer) => keep(terminal, chunk, bytes));
    this.#count += 1;
    const id = `terminal-${this.#count}`;
    this.#running.set(id, terminal);
    return id;
  }

  output(id: string): { output: string; truncated: boolean; exitStatus: TerminalExit | null } {
    const { output, isCut, exit } = this.#named(id);
    return { output: output.toString("utf8"), truncated: isCut, exitStatus: exit };
  }

  ended(id: string): Promise<TerminalExit> {
    return this.#named(id).ended;
  }

  kill(id: string): void {
    const { child, exit } = this.#named(id);
    if (exit === null) child.kill("SIGKILL");
  }

  release(id: string): void {
    this.kill(id);
    this.#running.delete(id);
  }

  close(): void {
    for (const id of [...this.#running.keys()]) this.release(id);
  }

  #named(id: string): Terminal {
    const terminal = this.#running.get(id);
    if (terminal === undefined) throw new MaestroError("not_found", `Terminal ${id} does not exist`);
    return terminal;
  }
}

function keep(terminal: Terminal, chunk: Buffer, bytes: number): void {
  const all = Buffer.concat([terminal.output, chunk]);
  terminal.isCut ||= all.length > bytes;
  terminal.output = all.subarray(Math.max(0, all.length - bytes));
}

/** As in a shell, a program that cannot be started exits with 127. */
function endOf(child: ChildProcess): Promise<TerminalExit> {
  return new Promise((resolve) => {
    child.once("error", () => resolve({ exitCode: 127, signal: null }));
    child.once("close", (exitCode, signal) => resolve({ exitCode, signal }));
  });
}
