import { expect, test } from "vitest";
import { processorMs } from "../../test/support/timed.ts";
import { layoutFor } from "../web/model/layers.ts";
import { layoutOf } from "./layout.ts";

const chain = (count: number, width: number) =>
  Array.from({ length: count }, (_, at) => ({
    id: String(at) as never,
    blocked_by: (at < width ? [] : [String(at - width)]) as never[],
  }));

test.each([12, 900])("puts every one of %i phases right of what it depends on, and none on another", (count) => {
  const phases = chain(count, 4);
  const { nodes, edges, node, width, height } = layoutOf(phases);
  expect(nodes).toHaveLength(count);
  expect(edges).toHaveLength(count - 4);
  for (const { from, to } of edges) expect(nodes[to]?.[0]).toBeGreaterThan((nodes[from]?.[0] ?? 0) + node.width);
  expect(new Set(nodes.map(String)).size).toBe(count);
  for (const [x, y] of nodes) {
    expect(x).toBeGreaterThanOrEqual(node.width / 2);
    expect(x).toBeLessThanOrEqual(width);
    expect(y).toBeLessThanOrEqual(height);
  }
});

test("lays out three thousand phases in less than a second", () => {
  const started = processorMs();
  layoutOf(chain(3000, 40));
  expect(processorMs() - started).toBeLessThan(1000);
});

test("draws an empty plan and one phase", () => {
  expect(layoutOf([]).nodes).toEqual([]);
  expect(layoutOf(chain(1, 1)).nodes).toHaveLength(1);
});

test("is used for its own plan alone: an earlier one, with as many phases, is laid out anew", () => {
  const [latest, earlier] = [chain(8, 2), chain(8, 4)];
  const given = layoutOf(latest);
  expect(layoutFor(latest, given)).toBe(given);
  for (const plan of [earlier, chain(5, 2)]) {
    const made = layoutFor(plan, given);
    expect(made.nodes).toHaveLength(plan.length);
    expect(made.edges.map(({ from, to }) => [from, to])).toEqual(
      layoutOf(plan).edges.map(({ from, to }) => [from, to]),
    );
  }
});
