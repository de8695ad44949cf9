// The report as one HTML file: what is in it, how large it is, where it is written.

import { readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readPage } from "../../src/dashboard/page.ts";
import { reportFile } from "../../src/dashboard/report-file.ts";
import type { ReportData } from "../../src/web/model/wire.ts";
import { runPlan } from "../support/engine-run.ts";
import { maestro } from "../support/processes.ts";
import { planPath, planText, root, withProject } from "../support/project.ts";
import { played } from "../support/stand-in.ts";

const KILOBYTE = 1024;

function dataOf(html: string): ReportData {
  const packed = /<script type="text\/plain" id="journal">([^<]*)<\/script>/.exec(html)?.[1] ?? "";
  return JSON.parse(gunzipSync(Buffer.from(packed, "base64")).toString("utf8"));
}

describe("maestro report --html", () => {
  test("writes the journal of the session into one small file that only its owner reads", async () => {
    await withProject(async (project) => {
      await runPlan(project, [played(1, [["print", "hello"]]), played(2, [], { blocked_by: [1] })], {
        words: ["--keep-open"],
      });
      const told = await maestro(project, ["report", "--html", "out.html"]);
      expect(told.stdout).toBe(`The report is in ${join(project.path, "out.html")}\n`);
      const html = project.read("out.html");
      expect(statSync(join(project.path, "out.html")).mode & 0o777).toBe(0o600);
      const journal = project.read(".gemini/state/progress.jsonl");
      expect(html.length).toBeLessThan(journal.length / 2 + 100 * KILOBYTE);
      const data = dataOf(html);
      expect(data.records.map(({ type }) => type)).toEqual(
        journal
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line).type),
      );
      expect(data.records[0]).not.toHaveProperty("crc");
      expect(data.layout.nodes).toHaveLength(2);
      expect(data.overview).toMatchObject({ control: false, sessions: [{ status: "completed" }] });
    });
  });

  test("is named after the session, and says so as JSON", async () => {
    await withProject(async (project) => {
      await runPlan(project, [played(1, [])], { words: ["--keep-open"] });
      const { stdout } = await maestro(project, ["report", "--html", "--json"]);
      const { session_id: id, file } = JSON.parse(stdout);
      expect(file).toBe(join(project.path, `maestro-report-${id}.html`));
      expect(project.exists(`maestro-report-${id}.html`)).toBe(true);
      const unwritable = await maestro(project, ["report", "--html", "no/such/place.html"]);
      expect(unwritable.stderr).toContain("Cannot write the report");
    });
  });
});

test("a rehearsal writes one into a new temporary directory, and names it at the end", async () => {
  await withProject(async (project) => {
    project.write(planPath, planText([{ id: 1 }, { id: 2, blocked_by: [1] }]));
    const run = await maestro(project, ["rehearse", planPath, "--seconds", "0.2", "--html"]);
    const path = /See it in a browser: (.*)\n$/.exec(run.stdout)?.[1] ?? "";
    try {
      expect(dataOf(readFileSync(path, "utf8")).records.length).toBeGreaterThan(5);
    } finally {
      rmSync(dirname(path), { recursive: true, force: true });
    }
  });
});

describe("the page", () => {
  const page = readPage(join(root, "dist", "dashboard.html"));
  const data: ReportData = {
    overview: { control: false, slots: null, max_retries: 2, prices: [], project: "x", sessions: [], unread: 0 },
    layout: { width: 0, height: 0, node: { width: 1, height: 1 }, nodes: [], edges: [] },
    records: [],
    written: "",
    driven: false,
  };

  test("has at most 60 KB, compressed, with script and style", () => {
    expect(gzipSync(page.html, { level: 9 }).length).toBeLessThanOrEqual(60 * KILOBYTE);
    expect(page.html.split(page.script).join("")).not.toMatch(/\b(?:src|href)="(?!data:)/);
  });

  test("lets only its own scripts run, and connects to nothing as a file", () => {
    const html = reportFile(page, data);
    const policy = /http-equiv="content-security-policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'sha256-[\w+/=]{44}' 'sha256-[\w+/=]{44}'; style-src 'sha256-/,
    );
    expect(policy).not.toMatch(/unsafe|connect-src|https?:/);
  });

  test("holds texts with every sign that a replacement would read as a command", () => {
    const project = "$& $' $` $1 </script><script>alert(1)</script> <!--data-->";
    const html = reportFile(page, { ...data, overview: { ...data.overview, project } });
    expect(dataOf(html).overview.project).toBe(project);
    expect(html).not.toContain("alert(1)");
  });
});
