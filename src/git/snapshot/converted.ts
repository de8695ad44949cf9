// Files that git changes on their way from disk into the repository: line endings, keywords, encodings. Their entries in the user's index
// are for other bytes than those on disk. A conversion shows in the size; where it need not, the attributes are asked.

import { join } from "node:path";
import { rawInput, rawNames } from "../names.ts";
import { blobSizes } from "../objects/blobs.ts";
import { theirGit } from "../own-git.ts";
import { readFile } from "../read-file.ts";
import type { Repository } from "../repository.ts";
import { type IndexEntry, isRegular } from "./index-file.ts";

const ENCODING = "working-tree-encoding";

/**
 * Entries whose content is not what is on disk, though git counts the file as unchanged. Files with a content filter are not among them: the
 * filter does not run here, so what the repository holds (a pointer of git-lfs) stands for the file.
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

/** UTF-16 and UTF-8 of a text can have the same size. */
function mentionsEncoding(repository: Repository, files: readonly IndexEntry[]): boolean {
  const named = files.filter(({ name }) => /(^|\/)\.gitattributes$/.test(name));
  const paths = named.map(({ name }) => Buffer.from(`${repository.toplevel}/${name}`, "latin1"));
  const others = [join(repository.commonDir, "info", "attributes"), repository.attributesFile];
  return [...paths, ...others].some((path) => path !== undefined && readFile(path)?.bytes.includes(ENCODING) === true);
}

/** What the user's git thinks of the files. Asking runs nothing. */
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
