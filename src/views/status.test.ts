import { describe, expect, it } from "vitest";
import { at, phase, plain, sessionOf } from "../../test/support/sample-session.ts";
import { positionOf } from "../session/position.ts";
import { statusLines } from "./status.ts";
import { displayWidth } from "./width.ts";

describe("the status of a session", () => {
  it("lines its columns up, whatever alphabet the names are in", () => {
    const names = ["Schema", "設計と実装", "Naïve café", "Launch 🚀", "x".repeat(80)];
    const session = sessionOf(
      names.map((title, index) => phase(String(index + 1), { title })),
      [],
    );
    const lines = statusLines(session, positionOf(session), null, at(9), plain);
    const columns = lines
      .filter((line) => line.includes("coder"))
      .map((line) => displayWidth(line.slice(0, line.indexOf("coder"))));
    expect(columns).toEqual(names.map(() => columns[0]));
  });
});
