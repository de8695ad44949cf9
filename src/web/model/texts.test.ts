// How the page shows what an agent prints and changes.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plainLine, styledLine } from "./ansi.ts";
import { diffFiles } from "./diff-rows.ts";
import { LogText } from "./log-text.ts";
import { changedWords } from "./words.ts";

describe("a line of a log", () => {
  test("keeps colours as classes", () => {
    expect(styledLine("a \u001b[31mred\u001b[0m b")).toEqual([
      { text: "a ", classes: "" },
      { text: "red", classes: "f1" },
      { text: " b", classes: "" },
    ]);
    expect(styledLine("\u001b[1;92mok\u001b[0m")[0]).toEqual({ text: "ok", classes: "f2 bold" });
    const classes = (codes: string) => styledLine(`\u001b[${codes}mx`)[0]?.classes;
    expect(["", "0", "39", "31;0", "1;22", "4;24", "31;39", "44;49"].map(classes)).toEqual(Array(8).fill(""));
    expect(["37;44", "97;104", "3;4;2", "1;3;23"].map(classes)).toEqual([
      "f7 b4",
      "f7 b4",
      "italic underline dim",
      "bold",
    ]);
    // Colours of the palette and of their own: the first sixteen have names, the numbers of the others are not codes.
    expect(["38;5;9", "48;5;4", "38;5;200", "38;2;1;31;4", "38;5;200;1", "31;38;2;1;2;3;4"].map(classes)).toEqual([
      ...["f1", "b4", "", "", "bold", "underline"],
    ]);
  });

  test.each([
    ["a link (OSC 8)", "\u001b]8;;https://evil.test\u0007click\u001b]8;;\u0007", "click"],
    ["a link that ends with ST", "\u001b]8;;javascript:alert(1)\u001b\\click\u001b]8;;\u001b\\", "click"],
    ["a title", "\u001b]0;owned\u0007text", "text"],
    ["cursor movements", "\u001b[2J\u001b[10;3Hhi\u001b[K", "hi"],
    ["a device control string", "\u001bPq#0\u001b\\after", "after"],
    ["a progress bar", "10%\r50%\r100%", "100%"],
    ["a line end of Windows", "text\r", "text"],
    ["bidirectional controls, made visible", "a\u202eb\u2066c", "a\\u202eb\\u2066c"],
    ["markup, as text", "<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"],
  ])("shows %s as plain text", (_, line, shown) => expect(plainLine(line)).toBe(shown));

  test("never keeps an escape or a control character, whatever is printed", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("\u001b", "\u001b]8;;", "\u0007", "\u001b[", "31m", "\u009b", "\u001b\\", "\u202e", "\u0000"),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const shown = plainLine(pieces.join("").replaceAll("\n", ""));
        expect(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(shown)).toBe(false);
      }),
    );
  });
});

describe("a long log", () => {
  test("is the same whatever pieces it comes in, and finds lines in any case", () => {
    const text = "first\nsecond Line\n\nlast without an end";
    fc.assert(
      fc.property(fc.array(fc.nat({ max: text.length }), { maxLength: 5 }), (cuts) => {
        const log = new LogText();
        const places = [0, ...cuts.sort((a, b) => a - b), text.length];
        for (let at = 1; at < places.length; at += 1) log.add(text.slice(places[at - 1], places[at]));
        expect(Array.from({ length: log.lines }, (_, at) => log.line(at))).toEqual(text.split("\n"));
        expect(log.parts().join("")).toBe(text);
        expect(log.search("LINE", 10)).toEqual([1]);
        expect(log.search("end", 10)).toEqual([3]);
      }),
    );
  });

  test("counts a line once, and stops at the limit", () => {
    const log = new LogText();
    log.add("aa aa\n".repeat(50));
    expect(log.search("aa", 100)).toHaveLength(50);
    expect(log.search("aa", 7)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(log.search("", 7)).toEqual([]);
  });
});

const patch = `diff --git a/src/a.ts b/src/a.ts
index 1111111..2222222 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,3 +1,3 @@
 const one = 1;
-const two = compute(alpha, beta);
+const two = compute(alpha, gamma);
 const three = 3;
diff --git a/old.txt b/new.txt
similarity index 100%
rename from old.txt
rename to new.txt
diff --git a/package-lock.json b/package-lock.json
index 1..2 100644
--- a/package-lock.json
+++ b/package-lock.json
@@ -1 +1 @@
-{}
+{ }
`;

describe("a diff", () => {
  test("puts the words of both lines together again, whatever they are", () => {
    const text = (parts: { text: string }[]) => parts.map((part) => part.text).join("");
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), fc.string({ maxLength: 40 }), (one, other) => {
        const [before, after] = changedWords(one, `${one.slice(3)}${other}`);
        const same = (parts: { text: string; isChanged: boolean }[]) => text(parts.filter((part) => !part.isChanged));
        expect([text(before), text(after)]).toEqual([one, `${one.slice(3)}${other}`]);
        expect(same(before)).toBe(same(after));
      }),
    );
    expect(changedWords("let a = beta(1);", "let a = gamma(1, 2);")[1].filter((part) => part.isChanged)).toEqual([
      { text: "gamma", isChanged: true },
      { text: ", 2", isChanged: true },
    ]);
  });

  test("marks the words that changed, with the numbers of both sides", () => {
    const [file] = diffFiles(patch);
    expect(file).toMatchObject({ path: "src/a.ts", kind: "modified", added: 1, removed: 1, folded: null });
    const [, same, removed, added] = file?.rows ?? [];
    expect(same).toMatchObject({ kind: "same", before: 1, after: 1, text: "const one = 1;" });
    expect(removed?.words?.filter(({ isChanged }) => isChanged).map(({ text }) => text)).toEqual(["beta"]);
    expect(added?.words?.filter(({ isChanged }) => isChanged).map(({ text }) => text)).toEqual(["gamma"]);
  });

  test("folds lock files and large files, and leaves nothing out", () => {
    const [, renamed, lock] = diffFiles(patch);
    expect(renamed).toMatchObject({ kind: "renamed", from: "old.txt", path: "new.txt" });
    expect(lock).toMatchObject({ folded: "lock file" });
    expect(lock?.rows).toHaveLength(3);
    const long = `diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,900 @@\n${"+line\n".repeat(900)}`;
    expect(diffFiles(long)[0]).toMatchObject({ kind: "created", folded: "900 changed lines", added: 900 });
    expect(diffFiles(long)[0]?.rows).toHaveLength(901);
  });
});
