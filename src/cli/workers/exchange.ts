// maestro exchange init: creates the repository through which attempts reach workers, or repairs one.

import { resolve } from "node:path";
import { MaestroError } from "../../errors.ts";
import { EXCHANGE_EXPECTED, exchangeAddress, hasPassword } from "../../secrets/remote-address.ts";
import { shellWord } from "../../text.ts";
import { oneLine } from "../../views/text/cell.ts";
import { programOf } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import { type ExchangeState, type ExchangeTask, exchangeScript, readExchangeState } from "./exchange-script.ts";
import { placeOf, runAt } from "./exchange-shell.ts";

export async function exchangeInit(io: Io, where: string, flags: { json?: boolean }): Promise<number> {
  const address = addressOf(io, where);
  const { state, path, faults } = await exchangeState(io, "init", address);
  if (state === "foreign") {
    throw new MaestroError("environment", `${oneLine(path)} is not an exchange: it contains other files`, {
      hint: "Choose a directory that does not exist or is empty.",
    });
  }
  if (state === "failed") {
    throw new MaestroError("environment", `Cannot create the exchange ${oneLine(address)}: ${reasonsIn(faults)}`, {
      hint: "Check that you may create the directory there.",
    });
  }
  if (flags.json) printJson(io, { exchange: address, path, state, repaired: state === "repaired" ? faults : [] });
  else io.out(`${said(programOf(io), address, state, faults).join("\n")}\n`);
  return 0;
}

function said(program: string, address: string, state: ExchangeState["state"], faults: readonly string[]): string[] {
  if (state === "current") return [`${oneLine(address)} is an exchange, and its hook and settings are current.`];
  if (state === "repaired") return [`Repaired the exchange ${oneLine(address)}:`, ...faults.map((one) => `  ${one}`)];
  const word = shellWord(oneLine(address));
  return [
    `Created the exchange ${oneLine(address)}`,
    `  engine:  ${program} run <plan> --workers redis://<host> --exchange ${word}`,
    `  workers: maestro worker --queue redis://<host> --exchange ${word}`,
  ];
}

/** Relative paths are relative to the current directory. */
function addressOf(io: Io, where: string): string {
  if (hasPassword(where)) {
    throw new MaestroError("usage", "The address of the exchange must not contain a password", {
      hint: "Use a key: ssh-copy-id, or an entry in ~/.ssh/config.",
    });
  }
  const isRelative = !where.includes(":") && !where.startsWith("-") && where !== "";
  const address = exchangeAddress(isRelative ? resolve(io.cwd, where) : where);
  if (address !== undefined) return address;
  throw new MaestroError("usage", `${JSON.stringify(oneLine(where))} is not ${EXCHANGE_EXPECTED}`, {
    hint: 'For example: "maestro exchange init git@host:maestro.git".',
  });
}

/** What an exchange is like; with "init" it is created or repaired first. */
export async function exchangeState(io: Pick<Io, "env">, task: ExchangeTask, address: string): Promise<ExchangeState> {
  const place = placeOf(address);
  const { code, stdout, stderr } = await runAt(io, place, exchangeScript(task, place.path));
  const state = readExchangeState(stdout);
  if (state !== undefined) return state;
  const reason = oneLine(stderr.trim().split("\n").at(-1) ?? "");
  const why = reason === "" ? `the remote shell exited with ${code ?? "a signal"}` : reason;
  throw new MaestroError("environment", `Cannot reach the exchange ${oneLine(address)}: ${why}`, {
    hint:
      place.ssh === undefined
        ? "Check the path and its owner."
        : `Check the connection with "ssh ${place.ssh.filter((word) => word !== "--").join(" ")} true". An account that may only run git cannot be set up from here: run "maestro exchange init" on that machine.`,
  });
}

function reasonsIn(faults: readonly string[]): string {
  return oneLine(faults.join("; ")).trim() || "it cannot be written";
}
