// Attempts that run on workers: real worker processes with homes of their own, a real Redis, and a bare repository between them.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { TEST_TIMEOUT_MS, until } from "../support/processes.ts";
import { planPath } from "../support/project.ts";
import { startSshd } from "../support/sshd.ts";
import { played, type Steps, scripted } from "../support/stand-in.ts";
import { KEY, RemoteProject, shortLease, within } from "../support/workers.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const one = (steps: Steps) => [played(1, steps, { files_created: ["one.txt"] })];
const two = [
  played(1, [["shell", "echo one > one.txt"]], { files_created: ["one.txt"] }),
  played(2, [["shell", "cat one.txt > two.txt"]], { files_created: ["two.txt"], blocked_by: [1] }),
];
const CANARY = "canary-5f2e8d1c-secret-value";

const outcomes = (project: RemoteProject) => project.events("attempt.finished").map(({ outcome }) => outcome);

describe.concurrent("a plan on workers", () => {
  test("is run by a worker, and its work is merged into the project; the journal says where it ran", async (context) => {
    await within(context, two, async (project) => {
      await project.worker({ name: "anvil" });
      const run = await project.engine().ended;
      expect([run.code, project.read("two.txt")]).toEqual([0, "one\n"]);
      expect(project.events("attempt.claimed").map(({ worker }) => worker)).toEqual(["anvil", "anvil"]);
      expect(project.notes("start").every(({ cwd }) => cwd.includes("worker-1/cache"))).toBe(true);
      expect(project.worktrees()).toEqual([]);
    });
  });

  test("leaves no secret of either side in Redis or in the exchange", async (context) => {
    const steps: Steps = [
      ["leak", "GEMINI_API_KEY"],
      ["shell", "echo one > one.txt"],
    ];
    await within(context, one(steps), async (project) => {
      await project.worker({ env: { GEMINI_API_KEY: `${CANARY}-worker` } });
      const run = await project.engine([], { GEMINI_API_KEY: CANARY }).ended;
      expect(run.code).toBe(0);
      const keys = await project.redis.send("KEYS", "*");
      expect(keys).toContain("maestro:");
      await project.redis.send("SAVE");
      const stored = execFileSync("cat", [join(project.redis.directory, "dump.rdb")], { encoding: "latin1" });
      const appended = execFileSync("sh", ["-c", `cat ${project.redis.directory}/appendonlydir/*`], {
        encoding: "latin1",
      });
      const options = ["cat-file", "--batch-all-objects", "--batch"];
      const objects = execFileSync("git", options, { cwd: project.exchange, encoding: "latin1", maxBuffer: 1 << 28 });
      expect(objects).toContain("Maestro delivery");
      for (const text of [stored, appended, objects]) {
        expect(text).not.toContain(CANARY);
        expect(text).not.toContain(KEY);
      }
    });
  });

  test("waits for a worker with the label that a phase needs, and says so", async (context) => {
    const phases = [
      played(1, [["shell", "echo one > one.txt"]], { files_created: ["one.txt"], needs: ["gpu"] } as never),
    ];
    await within(context, phases, async (project) => {
      await project.worker({ name: "plain" });
      const engine = project.engine();
      await until("it is said", () => engine.stderr().includes("No running worker has runtime gemini, label gpu"));
      await project.worker({ name: "strong", words: ["--label", "gpu", "--label", "fast"] });
      expect((await engine.ended).code).toBe(0);
      expect(project.events("attempt.claimed").map(({ worker }) => worker)).toEqual(["strong"]);
    });
  });

  test("is refused by a worker without the credential, before an agent starts", async (context) => {
    await within(context, one([["shell", "echo one > one.txt"]]), async (project) => {
      await project.worker({ name: "poor", env: { GEMINI_API_KEY: "" } });
      const run = await project.engine([], { GEMINI_API_KEY: CANARY, MAESTRO_MAX_RETRIES: "0" }).ended;
      expect([run.code, project.notes("start")]).toEqual([4, []]);
      expect(project.errorsOf("1")).toContain("The worker poor refused it: the worker does not have GEMINI_API_KEY");
    });
  });

  test("is run by a worker whose credential is in the file that its agent program reads", async (context) => {
    await within(context, one([["shell", "echo one > one.txt"]]), async (project) => {
      const home = project.newHome();
      mkdirSync(join(home, ".gemini"));
      writeFileSync(join(home, ".gemini", ".env"), `GEMINI_API_KEY=${CANARY}\n`);
      await project.worker({ home, env: { GEMINI_API_KEY: "" } });
      expect((await project.engine([], { GEMINI_API_KEY: CANARY }).ended).code).toBe(0);
    });
  });

  test("is charged what its transcript on the worker says, also when it is stopped at its reservation", async (context) => {
    const phases = [
      played(
        1,
        [
          ["spend", [600, 100]],
          ["spend", [300, 100]],
          ["shell", "echo one > one.txt"],
        ],
        { files_created: ["one.txt"], budget: "2ktok" } as never,
      ),
      played(2, [["spend", [600, 100]], ["hang"]], { budget: "500tok", blocked_by: [1] } as never),
    ];
    await within(context, phases, async (project) => {
      await project.worker();
      const run = await project.engine(["--budget", "30req,9ktok"], { MAESTRO_MAX_RETRIES: "0" }).ended;
      expect(run.code).toBe(4);
      expect(project.events("attempt.started").map(({ reserved }) => reserved)).toMatchObject([
        { tok: 2000 },
        { tok: 500 },
      ]);
      const [done, stopped] = project.events("attempt.finished");
      expect([done?.outcome, done?.spent]).toEqual(["success", expect.objectContaining({ req: 2 })]);
      expect([stopped?.reason, stopped?.spent]).toEqual(["over_budget", { tok: 700, req: 1 }]);
    });
  });

  test("is refused by a worker with another key, and nothing of the order is run", async (context) => {
    const phase = scripted(1, { "*": [["shell", "echo one > one.txt"]] }, { files_created: ["one.txt"] });
    await within(context, [phase], async (project) => {
      const wrong = await project.worker({ name: "wrong", env: { MAESTRO_WORKER_KEY: "f".repeat(32) } });
      const run = await project.engine(["--budget", "9ktok"], { MAESTRO_MAX_RETRIES: "2" }).ended;
      expect([run.code, project.notes("start")]).toEqual([4, []]);
      // The user is asked at once: no retry is used, and nothing is charged.
      expect(project.events("attempt.started")).toHaveLength(1);
      expect(project.events("attempt.finished")).toMatchObject([{ reason: "other_worker_key", spent: { tok: 0 } }]);
      expect(project.errorsOf("1")).toMatch(
        /Worker wrong refuses the order, because its key is not this engine's.*maestro workers/s,
      );
      expect(run.stdout + run.stderr).toContain("retry 1");
      expect(wrong.stderr()).toContain("refused, because the order was not made with this worker's key");

      wrong.child.kill("SIGTERM");
      await wrong.ended;
      await project.worker({ name: "right" });
      expect((await project.resumed().ended).code).toBe(0);
      expect(outcomes(project)).toEqual(["failure", "success"]);
    });
  });

  test("goes to another worker when one has another key, without a failure, a retry or a new attempt", async (context) => {
    const phases = ["1", "2"].map((id) =>
      played(
        id,
        [
          ["signal", "go"],
          ["shell", `echo x > ${id}.txt`],
        ],
        { files_created: [`${id}.txt`] },
      ),
    );
    await within(context, phases, async (project) => {
      await project.worker({ name: "right", words: ["--slots", "1"] });
      const engine = project.engine([], { MAESTRO_MAX_RETRIES: "0" });
      await until("the right worker is busy", () => project.notes("start").length === 1);
      const wrong = await project.worker({ name: "wrong", env: { MAESTRO_WORKER_KEY: "f".repeat(32) } });
      const refusals = () => wrong.stderr().split("refused, because").length - 1;
      await until("the wrong worker has refused it twice", () => refusals() >= 2);
      project.signal("go");
      const run = await engine.ended;
      expect([run.code, outcomes(project)]).toEqual([0, ["success", "success"]]);
      expect(run.stderr.split("Worker wrong refuses orders")).toHaveLength(2);
      expect(project.events("attempt.claimed").at(-1)).toMatchObject({ worker: "right" });
      expect(project.events("phase.moved").filter(({ to }) => to === "failed")).toEqual([]);
    });
  });

  test("shows a failed setup command as what it is, not as a failure of the agent", async (context) => {
    await within(context, one([["shell", "echo one > one.txt"]]), async (project) => {
      await project.worker();
      const env = { MAESTRO_WORKTREE_SETUP: "echo no such tool >&2; exit 3", MAESTRO_MAX_RETRIES: "0" };
      const run = await project.engine([], env).ended;
      expect([run.code, project.notes("start")]).toEqual([4, []]);
      expect(project.errorsOf("1")).toContain("The setup command of the worktree failed (exit code 3)");
    });
  });

  test("stops an attempt within a second and its grace period when the user stops the run", async (context) => {
    await within(context, one([["shell", "echo half > one.txt"], ["hang"]]), async (project) => {
      await project.worker();
      const engine = project.engine();
      await until("the agent works", () => project.notes("shell").length > 0 || project.notes("start").length > 0);
      engine.child.kill("SIGTERM");
      const run = await engine.ended;
      expect([run.code, outcomes(project)]).toEqual([143, ["interrupted"]]);
    });
  });

  test("refuses a request for more files from a worker, with a reason", async (context) => {
    const steps: Steps = [
      ["tool", ["maestro_request_scope", { paths: ["other.txt"], reason: "needed" }]],
      ["shell", "echo one > one.txt"],
    ];
    await within(context, one(steps), async (project) => {
      await project.worker();
      expect((await project.engine().ended).code).toBe(0);
      const [{ answer } = { answer: {} }] = project.notes("tool");
      expect(JSON.stringify(answer)).toContain("the session cannot be written to from a worker");
    });
  });

  test("runs attempts here too with --max-concurrent", async (context) => {
    const phases = [1, 2, 3].map((id) =>
      played(
        id,
        [
          ["signal", "go"],
          ["shell", `echo ${id} > f${id}.txt`],
        ],
        { files_created: [`f${id}.txt`] },
      ),
    );
    await within(context, phases, async (project) => {
      await project.worker();
      const engine = project.engine(["--max-concurrent", "1"], { PATH: project.agents.env().PATH ?? "" });
      await until("two agents work", () => project.notes("start").length === 2);
      project.signal("go");
      expect((await engine.ended).code).toBe(0);
      const places = project.notes("start").map(({ cwd }) => (cwd.includes("worker-1/cache") ? "worker" : "here"));
      expect([...new Set(places)].sort()).toEqual(["here", "worker"]);
    });
  });

  test("works over ssh", async (context) => {
    const sshd = await startSshd(context);
    try {
      await within(context, two, async (project) => {
        project.address = sshd.address(project.exchange);
        await project.worker({ env: sshd.env });
        const run = await project.engine([], sshd.env).ended;
        expect([run.code, project.read("two.txt")]).toEqual([0, "one\n"]);
      });
    } finally {
      sshd.close();
    }
  });
});

describe.concurrent("two sessions on one worker", () => {
  test("are served in turn, although one has queued all its phases first", async (context) => {
    const four = [1, 2, 3, 4].map((id) =>
      played(id, [["shell", `echo ${id} > f${id}.txt`]], { files_created: [`f${id}.txt`] }),
    );
    await within(context, four, async (first) => {
      const second = new RemoteProject(first.redis, { "README.md": "hello\n" }, four);
      second.address = first.address;
      try {
        const engines = [first.engine()];
        await until(
          "the first session is queued",
          () => first.events("attempt.placed").length === 4 && first.orders().length === 4,
        );
        engines.push(second.engine());
        await until("the second session is queued", () => first.orders().length === 8);
        await first.worker();
        for (const engine of engines) expect((await engine.ended).code).toBe(0);
        const claims = [first, second].flatMap((project, session) =>
          project.events("attempt.claimed").map(({ ts }) => ({ at: Date.parse(String(ts)), session })),
        );
        const order = claims.sort((one, other) => one.at - other.at).map(({ session }) => session);
        // Each of the first three pairs has one attempt of either session.
        expect([order.slice(0, 2), order.slice(2, 4), order.slice(4, 6)].map((pair) => pair.toSorted())).toEqual([
          [0, 1],
          [0, 1],
          [0, 1],
        ]);
      } finally {
        second.remove();
      }
    });
  });
});

describe.concurrent("a delivery", () => {
  test("that was not made with the key does not count, and the attempt is run again", async (context) => {
    const phase = played(
      1,
      [
        ["signal", "go"],
        ["shell", "echo one > one.txt"],
      ],
      { files_created: ["one.txt"] },
      [["shell", "echo one > one.txt"]],
    );
    await within(
      context,
      [phase],
      async (project) => {
        const worker = await project.worker();
        const engine = project.engine();
        await until("the agent works", () => project.notes("start").length === 1);
        const [order = ""] = project.orders();
        const git = (...words: string[]) =>
          execFileSync("git", words, { cwd: project.exchange, encoding: "utf8" }).trim();
        const people = ["-c", "user.name=n", "-c", "user.email=e"];
        const forged = git(
          ...people,
          "commit-tree",
          `${order}^{tree}`,
          "-p",
          order,
          "-m",
          `Maestro delivery\n\nSeal: ${"0".repeat(64)}`,
        );
        git("update-ref", order.replace("/in/", "/out/"), forged);
        worker.child.kill("SIGKILL");
        await project.worker();
        const run = await engine.ended;
        expect([run.code, project.read("one.txt")]).toEqual([0, "one\n"]);
        expect(run.stderr).toContain("is ignored: it was not made with this engine's key");
        expect(outcomes(project)).toEqual(["interrupted", "success"]);
      },
      shortLease,
    );
  });
});

describe.concurrent("a worker", () => {
  test("finishes its attempt after a first TERM, and takes no other", async (context) => {
    const phases = [1, 2].map((id) =>
      played(
        id,
        [
          ["signal", "go"],
          ["shell", `echo ${id} > f${id}.txt`],
        ],
        { files_created: [`f${id}.txt`] },
      ),
    );
    await within(context, phases, async (project) => {
      const first = await project.worker();
      const engine = project.engine();
      await until("an agent works", () => project.notes("start").length === 1);
      first.child.kill("SIGTERM");
      project.signal("go");
      expect((await first.ended).code).toBe(0);
      expect(project.notes("start").length).toBe(1);
      await project.worker();
      expect((await engine.ended).code).toBe(0);
      expect(outcomes(project)).toEqual(["success", "success"]);
    });
  });

  test("hands back partial work after a second TERM, and the next attempt starts with it", async (context) => {
    const phase = played(
      1,
      [
        ["shell", "echo part > part.txt"],
        ["signal", "never"],
      ],
      { files_created: ["part.txt", "rest.txt"] },
      [["shell", "cat part.txt > rest.txt"]],
    );
    await within(context, [phase], async (project) => {
      const first = await project.worker();
      const engine = project.engine();
      await until("the agent has written", () => project.notes("shell").length === 1);
      first.child.kill("SIGTERM");
      await until("it drains", () => first.stderr().includes("Draining: 1 running"));
      first.child.kill("SIGTERM");
      expect((await first.ended).code).toBe(0);
      await project.worker();
      expect((await engine.ended).code).toBe(0);
      expect([project.read("rest.txt"), outcomes(project)]).toEqual(["part\n", ["interrupted", "success"]]);
    });
  });

  test("stops an attempt whose engine has been gone for long, and keeps its work", async (context) => {
    const phase = played(
      1,
      [
        ["shell", "echo part > part.txt"],
        ["signal", "never"],
      ],
      { files_created: ["part.txt", "rest.txt"] },
      [["shell", "cat part.txt > rest.txt"]],
    );
    await within(context, [phase], async (project) => {
      await project.worker({ env: { MAESTRO_ORPHAN_LIMIT: "2s" } });
      const engine = project.engine();
      await until("the agent has written", () => project.notes("shell").length === 1);
      engine.child.kill("SIGKILL");
      await until("the work is kept", () => project.orders().some((ref) => ref.includes("/out/")));
      const next = project.resumed();
      expect((await next.ended).code).toBe(0);
      expect([project.read("rest.txt"), outcomes(project)]).toEqual(["part\n", ["interrupted", "success"]]);
    });
  });
});

describe("a password", () => {
  test("in an address on the command line is refused", async (context) => {
    await within(context, two, async (project) => {
      const words = ["run", planPath, "--workers", "redis://user:secret@localhost", "--exchange", project.exchange];
      const run = await commandLine(project, words, { env: { MAESTRO_WORKER_KEY: KEY } });
      expect([run.code, run.stderr]).toEqual([2, expect.stringContaining("must not contain a password")]);
      expect(run.stderr).not.toContain("secret@");
    });
  });

  test("is read from a file that --password-file names", async (context) => {
    await within(context, one([["shell", "echo one > one.txt"]]), async (project) => {
      await project.redis.send("ACL", "SETUSER", "default", ">letmein-42", "-nopass");
      project.write(".bin/password", "letmein-42\n");
      const words = ["--password-file", ".bin/password"];
      await project.worker({ words });
      const run = await project.engine(words).ended;
      expect([run.code, `${run.stdout}${run.stderr}`.includes("letmein")]).toEqual([0, false]);
    });
  });
});

describe("an address", () => {
  test("of a queue and an exchange is shown by --dry-run, which connects to neither", async (context) => {
    await within(context, two, async (project) => {
      const words = ["run", planPath, "--dry-run", "--workers", "redis://127.0.0.1:1", "--exchange", "/absent.git"];
      const { code, stdout } = await commandLine(project, words, { env: { MAESTRO_WORKER_KEY: KEY } });
      expect([code, stdout]).toEqual([
        0,
        expect.stringContaining("Workers: those of redis://127.0.0.1:1, through /absent.git; none here\n"),
      ]);
    });
  });

  test("of a queue or an exchange that cannot be reached leaves no session behind", async (context) => {
    await within(context, two, async (project) => {
      const begin = (queue: string, exchange: string) => {
        const words = ["run", planPath, "--mode", "parallel", "--workers", queue, "--exchange", exchange];
        return commandLine(project, words, { env: { MAESTRO_WORKER_KEY: KEY } });
      };
      const runs = [
        await begin("redis://127.0.0.1:1", project.exchange),
        await begin(project.redis.url, "/absent.git"),
      ];
      expect(runs.map(({ code }) => code)).toEqual([3, 3]);
      expect(runs.map(({ stderr }) => stderr).join("")).toMatch(
        /Cannot reach the queue[\s\S]*Cannot read the exchange/,
      );
      expect(project.events()).toEqual([]);
    });
  });
});
