// A real sshd of Debian on loopback for a test, with keys of its own. Only the user who runs the test can log in.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { debianProgram, freePort } from "./debian-program.ts";

const START_MS = 20_000;

export interface TestSshd {
  /** The address of a path on this machine. */
  address: (path: string) => string;
  /** The variables with which git and Maestro reach it. */
  env: { GIT_SSH_COMMAND: string };
  close: () => void;
}

/** Without sshd the test is skipped, with the reason. */
export async function startSshd(context: Pick<TestContext, "skip">): Promise<TestSshd> {
  const program = debianProgram("/usr/sbin/sshd", "openssh-server");
  if ("missing" in program) return context.skip(program.missing);
  const directory = mkdtempSync(join(tmpdir(), "maestro-sshd-"));
  const at = (name: string) => join(directory, name);
  for (const key of ["host", "user"]) {
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", at(key)]);
  }
  copyFileSync(at("user.pub"), at("authorized"));
  chmodSync(at("authorized"), 0o600);
  const port = await freePort();
  const settings = [
    `ListenAddress 127.0.0.1:${port}`,
    `HostKey ${at("host")}`,
    `AuthorizedKeysFile ${at("authorized")}`,
    `PidFile ${at("pid")}`,
    "StrictModes no",
    "PasswordAuthentication no",
    "UsePAM no",
    "PermitRootLogin prohibit-password",
  ];
  writeFileSync(at("config"), `${settings.join("\n")}\n`);
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true });
  const server = spawn(program.path, ["-D", "-e", "-f", at("config")], { stdio: "ignore" });
  await listening(server, port);
  const options = ["BatchMode=yes", "StrictHostKeyChecking=no", `UserKnownHostsFile=${at("known")}`, "LogLevel=ERROR"];
  return {
    address: (path) => `ssh://${userInfo().username}@127.0.0.1:${port}${path}`,
    env: { GIT_SSH_COMMAND: `ssh -F /dev/null -i ${at("user")} ${options.map((one) => `-o ${one}`).join(" ")}` },
    close: () => {
      server.kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function listening(server: ChildProcess, port: number): Promise<void> {
  for (const end = Date.now() + START_MS; Date.now() < end; ) {
    if (server.exitCode !== null) throw new Error(`sshd ended with ${server.exitCode}`);
    const isThere = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => resolve(false));
    });
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("sshd does not listen");
}
