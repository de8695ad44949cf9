// Reads sizes and contents of blobs in a few batches of bounded size, instead of one process per file.

import { MaestroError } from "../../errors.ts";
import { ownGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";
import { objectId } from "./object-id.ts";

const BATCH_BYTES = 32 * 1024 * 1024;

/** A blob never changes, so its size can be cached. */
const knownSizes = new WeakMap<Repository, Map<string, number>>();

/** Sizes by id. Objects that are missing (in a partial clone) are left out. */
export async function blobSizes(repository: Repository, ids: Iterable<string>): Promise<ReadonlyMap<string, number>> {
  const sizes = knownSizes.get(repository) ?? new Map<string, number>();
  knownSizes.set(repository, sizes);
  const unknown = [...new Set(ids)].filter((id) => !sizes.has(id));
  if (unknown.length === 0) return sizes;
  const args = ["cat-file", "--batch-check=%(objectname) %(objectsize)", "--buffer"];
  const { stdout } = await ownGit(repository, args, { input: inputOf(repository, unknown) });
  for (const line of stdout.toString().split("\n")) {
    const [id = "", size = ""] = line.split(" ");
    if (/^\d+$/.test(size)) sizes.set(id, Number(size));
  }
  return sizes;
}

/** Contents by id, batch by batch. A missing object is an error. */
export async function* readBlobs(
  repository: Repository,
  ids: Iterable<string>,
): AsyncGenerator<ReadonlyMap<string, Buffer>> {
  const wanted = [...new Set(ids)];
  const sizes = await blobSizes(repository, wanted);
  let [batch, bytes]: [string[], number] = [[], 0];
  for (const id of wanted) {
    const size = sizes.get(id);
    if (size === undefined) throw new MaestroError("environment", `The repository has no object ${id}`);
    if (batch.length > 0 && bytes + size > BATCH_BYTES) {
      yield await readBatch(repository, batch);
      [batch, bytes] = [[], 0];
    }
    batch.push(id);
    bytes += size;
  }
  if (batch.length > 0) yield await readBatch(repository, batch);
}

async function readBatch(repository: Repository, ids: readonly string[]): Promise<Map<string, Buffer>> {
  const input = inputOf(repository, ids);
  const { stdout } = await ownGit(repository, ["cat-file", "--batch", "--buffer"], { input });
  const contents = new Map<string, Buffer>();
  let at = 0;
  for (const id of ids) {
    const line = stdout.indexOf("\n", at);
    const match = /^([0-9a-f]+) blob (\d+)$/.exec(stdout.toString("latin1", at, line));
    if (match?.[1] !== id) throw new MaestroError("environment", `The repository has no file content ${id}`);
    const end = line + 1 + Number(match[2]);
    contents.set(id, stdout.subarray(line + 1, end));
    at = end + 1;
  }
  return contents;
}

function inputOf(repository: Repository, ids: readonly string[]): string {
  return ids.map((id) => `${objectId(repository, id)}\n`).join("");
}
