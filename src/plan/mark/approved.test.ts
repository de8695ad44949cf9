import { describe, expect, test } from "vitest";
import { approvedPlan } from "./approved.ts";

const at = new Date("2026-02-14T22:58:00Z");

describe("an approved plan", () => {
  test("has its status and the time in the front matter, and nothing else is changed", () => {
    const text = '---\ntitle: "T"\ncreated: invented\nstatus: "draft"\nphases: []\n---\n\nstatus: draft of the body\n';
    expect(approvedPlan(text, at)).toBe(
      '---\ntitle: "T"\ncreated: "2026-02-14T22:58:00.000Z"\nstatus: "approved"\nphases: []\n---\n\nstatus: draft of the body\n',
    );
  });

  test("gets the lines that are missing, and loses those that continued an old value", () => {
    expect(approvedPlan("---\nstatus: >\n  draft,\n  really\ntitle: T\n---\n", at)).toBe(
      '---\ncreated: "2026-02-14T22:58:00.000Z"\nstatus: "approved"\ntitle: T\n---\n',
    );
  });

  test.each(["no front matter", "---\n{title: T, status: draft}\n---\n", "---\r\nstatus: draft\r\n---\r\n"])(
    "stays as it is where a line cannot be replaced: %j",
    (text) => {
      expect(approvedPlan(text, at)).toBe(text);
    },
  );
});
