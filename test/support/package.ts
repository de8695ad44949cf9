// The package as `npm pack` makes it of this repository.

import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Project, root } from "./project.ts";

/** Packs Maestro into the project and returns the path of the tarball. No script of the package runs. */
export function packMaestro(project: Project): string {
  const into = join(project.path, ".packed");
  mkdirSync(into, { recursive: true });
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", into, root];
  const { code, stdout, stderr } = project.run("npm", args);
  if (code !== 0) throw new Error(stderr);
  return join(into, JSON.parse(stdout)[0].filename);
}

/** The directory that a tarball of npm unpacks to. */
export function unpack(project: Project, tarball: string): string {
  const into = join(project.path, ".unpacked");
  mkdirSync(into, { recursive: true });
  const { status, stderr } = spawnSync("tar", ["-xzf", tarball, "-C", into], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return join(into, "package");
}
