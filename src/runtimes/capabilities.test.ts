import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pinned } from "../../tools/runtimes.js";
import { tierTools } from "../agents/tiers.ts";
import { runtimes } from "./runtime-table.ts";

const text = readFileSync(new URL("../../docs/runtimes.md", import.meta.url), "utf8");

test.each(runtimes)("docs/runtimes.md says what $name can enforce", ({ name, capabilities }) => {
  const { tiers: held, heldBy, turnLimit, budget, streams, tokens, atOnce } = capabilities;
  const tiersHeld = held.length === Object.keys(tierTools).length ? "all" : held.join(", ");
  const limits = [turnLimit ?? "none", budget ?? "none"];
  const cells = [`\`${name}\``, tiersHeld, heldBy, ...limits, streams, tokens, atOnce ?? "no limit"];
  expect(text.split("\n")).toContain(`| ${cells.join(" | ")} |`);
});

test.each(runtimes.filter(({ name }) => name in pinned))(
  "docs/runtimes.md has the version of $name that is tested",
  ({ name }) => {
    const [, version] = /@([\d.]+)$/.exec(pinned[name as keyof typeof pinned]) ?? [];
    expect(text).toMatch(new RegExp(`^\\| \\\`${name}\\\` \\| [^|]*\\b${version}\\b`, "m"));
  },
);
