// deploy/compose.yaml is documentation that no test runs: no container engine is assumed. Its syntax and its promises are checked here.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { verbs } from "../src/cli/verb-table.ts";
import { queueAddress } from "../src/secrets/remote-address.ts";
import { definitions } from "../src/settings.ts";
import { root } from "./support/project.ts";

interface Service {
  command: string[];
  environment?: Record<string, string>;
  networks: string[];
  ports?: unknown;
  secrets?: string[];
  volumes: string[];
}

interface Compose {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
  volumes: Record<string, unknown>;
  secrets: Record<string, { file: string }>;
}

const text = readFileSync(join(root, "deploy/compose.yaml"), "utf8");
const compose = parse(text, { merge: true, strict: true }) as Compose;
const { queue, exchange, ...workers } = compose.services;
const script = (service: Service | undefined) => service?.command.join("\n") ?? "";

test("it has a queue, an exchange and two workers with names of their own", () => {
  expect(Object.keys(compose.services)).toEqual(["queue", "exchange", "worker-1", "worker-2"]);
  for (const worker of Object.values(workers)) expect(script(worker)).toContain('--name "$$(hostname)"');
});

test("it names only networks, volumes and secrets that it defines", () => {
  for (const service of Object.values(compose.services)) {
    for (const name of service.networks) expect(Object.keys(compose.networks)).toContain(name);
    for (const name of service.secrets ?? []) expect(Object.keys(compose.secrets)).toContain(name);
    for (const volume of service.volumes) expect(Object.keys(compose.volumes)).toContain(volume.split(":")[0]);
  }
});

test("its queue keeps what it has, drops nothing, and is reached by one limited user on a network without an outside", () => {
  const settings = script(queue);
  for (const line of ["appendonly yes", "maxmemory-policy noeviction", "user default off"])
    expect(settings).toContain(line);
  expect(settings).toMatch(/user maestro on >\S+ .*~maestro:\* &maestro:\* /);
  for (const service of [queue, exchange]) expect([service?.networks, service?.ports]).toEqual([["inside"], undefined]);
  expect(compose.networks.inside?.internal).toBe(true);
});

test("its workers use options, settings and addresses that exist, and no secret is written in it", () => {
  const worker = verbs.find(({ usage }) => usage === "worker");
  const known = (worker?.options ?? []).map(({ flags }) => /--[a-z-]+/.exec(flags)?.[0]);
  const words = script(workers["worker-1"]).split("maestro.js worker ")[1] ?? "";
  const used = words.match(/--[a-z-]+/g) ?? [];
  expect(used.length).toBeGreaterThan(4);
  expect(used.filter((flag) => !known.includes(flag))).toEqual([]);
  expect(queueAddress(/--queue (\S+)/.exec(words)?.[1] ?? "")).toBe("redis://maestro@queue:6379");
  const settings = Object.keys(workers["worker-1"]?.environment ?? {}).filter((name) => name.startsWith("MAESTRO_"));
  expect(settings.filter((name) => !(name in definitions))).toEqual([]);
  expect(text).not.toMatch(/[0-9a-f]{32}|(?:KEY|PASSWORD): [A-Za-z0-9]/);
  for (const { file } of Object.values(compose.secrets)) expect(file).toMatch(/^\.\//);
});
