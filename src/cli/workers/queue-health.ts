// What `maestro doctor` says about the server of a queue, from the facts that the server reports. Pure.

import { durationText } from "../../views/text/duration.ts";
import type { Finding } from "../check/finding.ts";

/** Null where the server, or the user's rights on it, do not tell. */
export interface QueueFacts {
  url: string;
  /** The sections of INFO as one map. */
  info: Readonly<Record<string, string>> | null;
  /** The addresses it listens on. */
  bind: readonly string[] | null;
  /** Whether it writes its memory to disk at times. */
  saves: boolean | null;
  user: string | null;
  hasPassword: boolean;
  /** Whether the user can read keys that are not Maestro's. */
  readsAll: boolean;
  /** The server's clock minus this machine's. */
  clockMs: number;
}

const LEAST_VERSION = [6, 2];
const MOST_CLOCK_MS = 2000;

export function queueFindings(facts: QueueFacts): Finding[] {
  const { info } = facts;
  const unknown: Finding = {
    check: "queue",
    level: "warn",
    message: "The queue does not report its version, persistence and eviction policy",
    hint: "Let its user run INFO: ACL SETUSER <user> +info",
  };
  return [
    ...(info === null ? [unknown] : [versionOf(info), persistenceOf(info, facts.saves), evictionOf(info)]),
    bindOf(facts),
    rightsOf(facts),
    clockOf(facts),
  ];
}

function finding(level: Finding["level"], message: string, hint?: string): Finding {
  return { check: "queue", level, message, ...(hint === undefined ? {} : { hint }) };
}

function versionOf(info: NonNullable<QueueFacts["info"]>): Finding {
  const name = info.valkey_version === undefined ? "Redis" : "Valkey";
  const version = info.valkey_version ?? info.redis_version ?? "";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isOld = major < (LEAST_VERSION[0] ?? 0) || (major === LEAST_VERSION[0] && minor < (LEAST_VERSION[1] ?? 0));
  if (!isOld) return finding("ok", `Queue: ${name} ${version}`);
  return finding("fail", `${name} ${version} is too old for the queue`, "Install Redis 6.2 or newer, or Valkey.");
}

/** Results are in the exchange, so a queue that forgets costs time, not work. */
function persistenceOf(info: NonNullable<QueueFacts["info"]>, saves: boolean | null): Finding {
  if (info.aof_enabled === "1") return finding("ok", "The queue writes every change to disk (appendonly)");
  const hint = "Set it in redis.conf: appendonly yes";
  if (saves === false) return finding("warn", "The queue loses everything when its server restarts", hint);
  return finding("warn", "The queue may lose the last minutes when its server restarts", hint);
}

function evictionOf(info: NonNullable<QueueFacts["info"]>): Finding {
  const policy = info.maxmemory_policy ?? "unknown";
  if (policy === "noeviction") return finding("ok", "The queue drops nothing when its memory is full (noeviction)");
  const isLimited = (info.maxmemory ?? "0") !== "0";
  const message = `The queue may drop attempts when its memory is full (maxmemory-policy ${policy})`;
  return finding(isLimited ? "fail" : "warn", message, "Set it in redis.conf: maxmemory-policy noeviction");
}

const loopback = /^-?(?:127\.[\d.]+|::1|localhost)$/;

function bindOf({ bind, url, hasPassword }: QueueFacts): Finding {
  const how = "Bind it to 127.0.0.1 and reach it through ssh or WireGuard, or use rediss:// with a password.";
  if (bind === null) return finding("warn", "The queue does not report the addresses that it listens on", how);
  const others = bind.filter((address) => !loopback.test(address));
  if (bind.length > 0 && others.length === 0) return finding("ok", "The queue listens only on this machine");
  const where = others.length === 0 ? "every address" : others.join(" ");
  if (!hasPassword) {
    return finding(
      "fail",
      `The queue listens on ${where} and requires no password: other users can stop attempts`,
      how,
    );
  }
  if (url.startsWith("rediss:")) return finding("ok", `The queue listens on ${where}, with a password and TLS`);
  return finding("warn", `The queue listens on ${where}, and the password travels unencrypted`, how);
}

function rightsOf({ user, hasPassword, readsAll }: QueueFacts): Finding {
  const hint = "ACL SETUSER maestro on ><password> ~maestro:* &maestro:* +@all -@dangerous -@admin +info";
  if (!readsAll) return finding("ok", `The queue's user ${user ?? "of this machine"} can access only Maestro's keys`);
  const who = hasPassword
    ? `The queue's user ${user ?? "default"}`
    : "Without a password, every program that reaches the queue";
  return finding("warn", `${who} can access every key of the server`, hint);
}

function clockOf({ clockMs }: QueueFacts): Finding {
  const off = Math.abs(clockMs);
  if (off <= MOST_CLOCK_MS) return finding("ok", "The clocks of the queue and of this machine agree");
  const side = clockMs > 0 ? "ahead of" : "behind";
  const message = `The queue's clock is ${durationText(off)} ${side} this machine's`;
  return finding("warn", message, "Synchronise both: timedatectl set-ntp true");
}
