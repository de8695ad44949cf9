// Finds files that git converts when it reads them from disk: line endings, keywords, encodings. Their entries in the user's index describe
// other bytes than those on disk. A conversion usually changes the size; where it may not, git is asked for the attributes.

import { join } from "node:path";
import { rawInput, rawNames } from "../names.ts";
import { blobSizes } from "../objects/blobs.ts";
import { theirGit } from "../own-git.ts";
import { readFile } from "../read-file.ts";
import type { Repository } from "../repository.ts";
import { type IndexEntry, isRegular } from "./index-file.ts";

const ENCODING = "working-tree-encoding";

/**
 * Entries whose content differs from the disk although git counts the file as unchanged. Files with a content filter are not included: the
 * filter does not run here, so the repository's content (a git-lfs pointer) represents the file.
 */
export async function convertedEntries(
  repository: Repository,
  index: string,
  entries: readonly IndexEntry[],
): Promise<IndexEntry[]> {
  const files = entries.filter(({ mode, stage }) => isRegular(mode) && stage === 0);
  const sizes = await blobSizes(
    repository,
    files.map(({ id }) => id),
  );
  const isResized = ({ id, size }: IndexEntry) => (sizes.get(id) ?? size) % 2 ** 32 !== size;
  const mayHide = mentionsEncoding(repository, files);
  const suspects = mayHide ? files : files.filter(isResized);
  if (suspects.length === 0) return [];
  const attributes = await attributesOf(repository, index, suspects);
  return suspects.filter((entry) => {
    const { filter, [ENCODING]: encoding } = attributes.get(entry.name) ?? {};
    return !isSet(filter) && (isSet(encoding) || isResized(entry));
  });
}

/** A text can have the same size in UTF-16 and UTF-8. */
function mentionsEncoding(repository: Repository, files: readonly IndexEntry[]): boolean {
  const named = files.filter(({ name }) => /(^|\/)\.gitattributes$/.test(name));
  const paths = named.map(({ name }) => Buffer.from(`${repository.toplevel}/${name}`, "latin1"));
  const others = [join(repository.commonDir, "info", "attributes"), repository.attributesFile];
  return [...paths, ...others].some((path) => path !== undefined && readFile(path)?.bytes.includes(ENCODING) === true);
}

/** The attributes that the user's git sees. The query starts no program. */
async function attributesOf(
  repository: Repository,
  index: string,
  entries: readonly IndexEntry[],
): Promise<Map<string, Record<string, string>>> {
  const own = repository.attributesFile === undefined ? [] : ["-c", `core.attributesFile=${repository.attributesFile}`];
  const { stdout } = await theirGit(repository, [...own, "check-attr", "-z", "--stdin", "filter", ENCODING], {
    config: "user",
    index,
    input: rawInput(entries.map(({ name }) => name)),
  });
  const fields = rawNames(stdout);
  const found = new Map<string, Record<string, string>>();
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [name = "", attribute = "", value = ""] = fields.slice(at, at + 3);
    found.set(name, { ...found.get(name), [attribute]: value });
  }
  return found;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "unspecified" && value !== "unset";
}
