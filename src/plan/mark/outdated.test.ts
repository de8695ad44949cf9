import { describe, expect, test } from "vitest";
import { outdatedPlan } from "./outdated.ts";

describe("a plan that was replaced", () => {
  test.each([
    [
      "with a status",
      '---\ntitle: A\nstatus: "approved"\nphases: []\n---\n# Body\nstatus: kept\n',
      '---\nstatus: outdated\nsuperseded_by: "v2.md"\ntitle: A\nphases: []\n---\n# Body\nstatus: kept\n',
    ],
    [
      "without a status, with a field of that name in a phase",
      "---\ntitle: A\nphases:\n  - id: 1\n    status: x\n---\n",
      '---\nstatus: outdated\nsuperseded_by: "v2.md"\ntitle: A\nphases:\n  - id: 1\n    status: x\n---\n',
    ],
    [
      "with a status of several lines",
      "---\nstatus: >\n  approved\n  by all\ntitle: A\n---\n",
      '---\nstatus: outdated\nsuperseded_by: "v2.md"\ntitle: A\n---\n',
    ],
    [
      "in braces, where only a comment keeps it valid",
      '---\n{\n "title": "A",\n "status": "approved"\n}\n---\n',
      '---\n# status: outdated\n# superseded_by: "v2.md"\n{\n "title": "A",\n "status": "approved"\n}\n---\n',
    ],
    ["without front matter", "# A\n", '---\nstatus: outdated\nsuperseded_by: "v2.md"\n---\n# A\n'],
  ])("says so in its front matter: %s (L166)", (_, text, expected) => {
    expect(outdatedPlan(text, "v2.md")).toBe(expected);
    expect(outdatedPlan(outdatedPlan(text, "v2.md"), "v2.md")).toBe(expected);
  });
});
