// The bridge between the engine and an agent that speaks the Agent Client Protocol: the prompt on stdin, events on stdout.
// argv: the agent's program, the tier, the model (or nothing), and the agent's arguments. Exit codes: 0 for a turn that ended well, 1 for
// any other.

import { readFileSync, realpathSync, writeSync } from "node:fs";
import type { Tier } from "../agents/tiers.ts";
import { startAgent } from "./agent-process.ts";
import { takeTurn } from "./bridge.ts";

const [program = "", tier = "read-only", model = "", ...args] = process.argv.slice(2);

void run();

async function run(): Promise<void> {
  const root = realpathSync(process.cwd());
  const prompt = readFileSync(0, "utf8");
  const agent = startAgent(program, args, root);
  const isGood = await takeTurn(agent, {
    root,
    tier: tier as Tier,
    model,
    prompt,
    print: (event) => writeSync(1, `${JSON.stringify(event)}\n`),
    warn: (message) => console.error(message),
  });
  await agent.end();
  process.exit(isGood ? 0 : 1);
}
