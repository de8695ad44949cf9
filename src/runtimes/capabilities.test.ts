import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { tierTools } from "../agents/tiers.ts";
import { runtimes } from "./runtime-table.ts";

const text = readFileSync(new URL("../../docs/runtimes.md", import.meta.url), "utf8");

test.each(runtimes)("docs/runtimes.md says what $name can hold", ({ name, capabilities }) => {
  const { tiers: held, heldBy, turnLimit, budget, tokens, atOnce } = capabilities;
  const tiersHeld = held.length === Object.keys(tierTools).length ? "all" : held.join(", ");
  const cells = [`\`${name}\``, tiersHeld, heldBy, turnLimit ?? "none", budget ?? "none", tokens, atOnce ?? "no limit"];
  expect(text.split("\n")).toContain(`| ${cells.join(" | ")} |`);
});
