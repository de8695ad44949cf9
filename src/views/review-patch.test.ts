import { describe, expect, test } from "vitest";
import { reviewPatch } from "./review-patch.ts";

const from = "1".repeat(40);
const to = "2".repeat(40);
const file = (path: string, added: string) =>
  `diff --git a/${path} b/${path}\nindex 1..2 100644\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n${added}\n`;
const patch = (phase: string, text: string) => ({ phase, attempt: 1, from, to, text });

describe("the diff of a review", () => {
  test("has the files of every phase in their order, below the phase", () => {
    const { shown, leftOut } = reviewPatch([
      patch("1", file("a.ts", "+one") + file("b.ts", "+two")),
      patch("2", file("a.ts", "+three")),
    ]);
    expect(leftOut).toEqual([]);
    expect(shown.match(/^# Phase .*$|^\+[a-z]+$/gm)).toEqual([
      "# Phase 1, attempt 1",
      "+one",
      "+two",
      "# Phase 2, attempt 1",
      "+three",
    ]);
  });

  test.each(["package-lock.json", "app/yarn.lock", "go.sum", "site/app.min.js", "dist/app.js.map", "bun.lockb"])(
    "leaves out %s and names the command that shows it",
    (path) => {
      const { shown, leftOut } = reviewPatch([patch("7", file(path, "+x") + file("src/own.ts", "+y"))]);
      expect(shown).not.toContain(path);
      expect(shown).toContain("src/own.ts");
      expect(leftOut).toEqual([
        `${path} (phase 7, generated): git diff --no-ext-diff 111111111111 222222222222 -- ':/${path}'`,
      ]);
    },
  );

  test("leaves out a long file, and whatever exceeds the whole, but shows shorter ones after it", () => {
    const long = file("long.ts", `+${"x".repeat(20_001)}`);
    const three = ["a", "b", "c", "d"].map((name) => file(`${name}.ts`, `+${"y".repeat(19_000)}`)).join("");
    const { shown, leftOut } = reviewPatch([patch("1", long + three + file("short.ts", "+z"))]);
    expect(shown.length).toBeLessThan(61_000);
    expect(leftOut.map((line) => line.split(" ")[0])).toEqual(["long.ts", "d.ts"]);
    expect(shown).toContain("b/short.ts");
  });

  test("names a renamed file by its new name, and quotes a name for the shell", () => {
    const renamed = `diff --git a/old.lock b/it's.lock\nsimilarity index 90%\nrename from old.lock\nrename to it's.lock\n@@ -1 +1 @@\n+x\n`;
    expect(reviewPatch([patch("1", renamed)]).leftOut[0]).toMatch(/^it's\.lock .* -- ':\/it'\\''s\.lock'$/);
  });

  test("takes a line of a file that looks like a head for a line", () => {
    const { shown } = reviewPatch([patch("1", file("a.ts", "+diff --git a/x.lock b/x.lock\n+rename to y.lock"))]);
    expect(shown).toContain("+rename to y.lock");
  });
});
