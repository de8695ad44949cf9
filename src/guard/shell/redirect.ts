// Resolves redirections: where each descriptor leads, what standard input contains, and which files are opened for writing.

import type { Redirect, Redirection } from "unbash";
import { locate } from "../paths.ts";
import { type Feed, fromShell, type Sink } from "./call.ts";
import { isKnown, UNKNOWN } from "./shape.ts";
import type { Shell } from "./shell.ts";
import { heredocText, type Substitutions, textOf } from "./words.ts";

export interface Redirected {
  sinks: ReadonlyMap<number, Sink>;
  stdin: Feed;
  /** Located shapes. */
  files: string[];
}

export function redirect(
  redirections: readonly Redirection[],
  shell: Shell,
  help: Substitutions,
  feedOf: (path: string) => Feed | undefined,
): Redirected {
  const sinks = new Map(shell.sinks);
  const result = { sinks, stdin: shell.stdin, files: [] as string[] };
  for (const one of redirections) {
    const descriptor = one.descriptor?.type === "FileDescriptor" ? one.descriptor.value : undefined;
    if (one.type === "HereDoc") {
      const text = heredocText(one, shell, help);
      if ((descriptor ?? 0) === 0) result.stdin = { ...fromShell(text), isHeredoc: true };
    } else if (one.type === "HereString") {
      const text = textOf(one.target, shell, help);
      if ((descriptor ?? 0) === 0) result.stdin = fromShell(`${text}\n`);
    } else if (one.operator === "<" && (descriptor ?? 0) === 0) {
      const path = textOf(one.target, shell, help);
      result.stdin = feedOf(path) ?? { text: UNKNOWN, origin: "file" };
    } else if (one.operator !== "<") {
      output(one, descriptor, shell, help, result, sinks);
    }
  }
  return result;
}

function output(
  one: Redirect,
  descriptor: number | undefined,
  shell: Shell,
  help: Substitutions,
  result: Redirected,
  sinks: Map<number, Sink>,
): void {
  const target = textOf(one.target, shell, help);
  const fd = descriptor ?? (one.descriptor === undefined ? defaultOf(one.operator) : newDescriptor(one, sinks, shell));
  const isDuplicate = one.operator === "<&" || one.operator === ">&";
  if (isDuplicate && /^\d*-?$/.test(target)) {
    const source = sinks.get(Number.parseInt(target, 10)) ?? { kind: "terminal" };
    if (one.operator === ">&" || fd !== 0) sinks.set(fd, target === "-" ? { kind: "device" } : source);
    return;
  }
  // `>&$fd`: an unknown target is more likely a descriptor than a file.
  if (isDuplicate && !isKnown(target) && descriptor !== undefined) return;
  if (one.operator === "<&") return;
  const path = locate(target, shell.cwd);
  const sink = sinkOf(path, sinks);
  sinks.set(fd, sink);
  if (one.operator.startsWith("&") || (one.operator === ">&" && descriptor === undefined)) sinks.set(2, sink);
  if (sink.kind === "file") result.files.push(path);
}

function defaultOf(operator: string): number {
  return operator.startsWith("<") ? 0 : 1;
}

/** `exec {log}>file`: the shell chooses a descriptor and assigns it to the variable. */
function newDescriptor(one: Redirect, sinks: ReadonlyMap<number, Sink>, shell: Shell): number {
  const fd = sinks.size + 10;
  if (one.descriptor?.type === "FileDescriptorVariable") shell.assign(one.descriptor.name, String(fd));
  return fd;
}

/** Where an opened path leads: a file, or a device that keeps nothing. */
function sinkOf(path: string, sinks: ReadonlyMap<number, Sink>): Sink {
  const descriptor = descriptorOf(path);
  if (descriptor !== undefined) return sinks.get(descriptor) ?? { kind: descriptor <= 2 ? "terminal" : "device" };
  return isDevice(path) ? { kind: "device" } : { kind: "file", path };
}

/** The descriptor of /dev/stdin, /dev/fd/3, /proc/self/fd/0. */
export function descriptorOf(path: string): number | undefined {
  const names: Record<string, number> = { "/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2 };
  if (Object.hasOwn(names, path)) return names[path];
  const found = /^\/(?:dev|proc\/[^/]+)\/fd\/(\d+)$/.exec(path);
  return found === null ? undefined : Number(found[1]);
}

export function isDevice(path: string): boolean {
  return (
    path.startsWith("/dev/") && /^\/dev\/(?:null|zero|full|tty\w*|console|ptmx|pts\/.*|tcp\/.*|udp\/.*)$/.test(path)
  );
}
