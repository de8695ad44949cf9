import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { root } from "./support/project.ts";

const source = join(root, "src");
const parse = (name: string, text: string) => ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);

/** The keys of `bodies` in src/session/events.ts. */
const eventTypes = new Set<string>();
parse("events.ts", readFileSync(join(source, "session/events.ts"), "utf8")).forEachChild((statement) => {
  if (!ts.isVariableStatement(statement)) return;
  for (const { name, initializer } of statement.declarationList.declarations) {
    if (name.getText() !== "bodies" || initializer === undefined || !ts.isObjectLiteralExpression(initializer))
      continue;
    for (const { name: key } of initializer.properties)
      if (key !== undefined && ts.isStringLiteral(key)) eventTypes.add(key.text);
  }
});

/** Lines with an object literal whose `type` is, or may be, that of an event. */
function eventLiterals(name: string, text: string): string[] {
  const file = parse(name, text);
  const found: string[] = [];
  const isEventType = (node: ts.Node): boolean =>
    (ts.isStringLiteralLike(node) && eventTypes.has(node.text)) || (ts.forEachChild(node, isEventType) ?? false);
  const visit = (node: ts.Node): void => {
    if (
      ts.isPropertyAssignment(node) &&
      /^["']?type["']?$/.test(node.name.getText()) &&
      isEventType(node.initializer)
    ) {
      found.push(`${name}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
    }
    node.forEachChild(visit);
  };
  visit(file);
  return found;
}

test("the types of events are read from their catalogue", () => {
  expect(eventTypes.size).toBeGreaterThan(20);
  expect([...eventTypes]).toEqual(expect.arrayContaining(["session.created", "phase.moved", "archive.started"]));
});

test("only session/ builds events", () => {
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.startsWith("session/"),
  );
  expect(files.length).toBeGreaterThan(200);
  expect(files.flatMap((path) => eventLiterals(path, readFileSync(join(source, path), "utf8")))).toEqual([]);
});

test.each([
  ['store.update(() => ({ events: [{ type: "phase.moved", phase }], result: null }));', 1],
  ['const event = { ...about, "type": "attempt.changed" as const };', 1],
  ['const event = { type: isBack ? "phase.reverted" : "phase.integrated", from, to };', 1],
  ['if (event.type === "phase.moved") tell(event);', 0],
  ['type Moved = TimedEvent & { type: "phase.moved" };', 0],
  ['printJsonLine(io, { type: "run.finished" });', 0],
])("in %j the search finds %i event literals", (text, count) => {
  expect(eventLiterals("sample.ts", text)).toHaveLength(count);
});
