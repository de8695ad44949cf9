// Which files a command writes by its own arguments, and whether it writes content from the command line.

import { baseName, locate } from "../paths.ts";
import type { Call } from "../shell/call.ts";
import { STAR } from "../shell/shape.ts";
import { copied } from "./copied.ts";
import { edited } from "./edited.ts";
import { readGit } from "./git/command.ts";
import { cutAtEquals, Options } from "./options.ts";
import { isWrapper } from "./wrappers.ts";

export interface Written {
  /** As in the command: relative to its directory. */
  path: string;
  /** True for content that must be written with write_file; false for copies, downloads and program output. */
  isContent: boolean;
}

export function writtenBy(call: Call): Written[] {
  const git = readGit(call);
  if (git !== undefined)
    return git.verb === "mv" ? copied({ ...call, name: "mv", args: git.args }) : byOutputOption(git.args);
  const writer = Object.hasOwn(writers, call.name) ? writers[call.name] : undefined;
  if (writer !== undefined) return writer(call);
  const found = edited(call);
  if (found.length > 0) return found;
  // Options after a wrapper belong to the inner program.
  return outputIsNotAFile.has(call.name) || isWrapper(call.name) ? [] : byOutputOption(call.args);
}

const made = (path: string): Written => ({ path, isContent: false });
const content = (path: string): Written => ({ path, isContent: true });

const writers: Record<string, (call: Call) => Written[]> = {
  cp: copied,
  mv: copied,
  ln: copied,
  link: (call) => copied({ ...call, name: "ln" }),
  install: copied,
  rsync: copied,
  scp: copied,
  ditto: copied,
  tee: ({ args, stdin }) => {
    const options = new Options(args);
    const isContent = !options.has("a", "--append") || stdin.isHeredoc === true;
    return options.operands.map((path) => ({ path, isContent }));
  },
  dd: ({ args }) => args.filter((arg) => arg.startsWith("of=")).map((arg) => content(arg.slice(3))),
  truncate: ({ args }) => new Options(args, "sr", ["--size", "--reference"]).operands.map(content),
  sponge: ({ args }) => new Options(args).operands.map(content),
  fallocate: ({ args }) => new Options(args, "lo", ["--length", "--offset"]).operands.map(content),
  touch: ({ args }) => new Options(args, "dtr", ["--date", "--reference", "--time"]).operands.map(made),
  sort: ({ args }) => new Options(args, "okStT", ["--output", "--key"]).all("o", "--output").map(content),
  shuf: ({ args }) => new Options(args, "onir", ["--output"]).all("o", "--output").map(content),
  iconv: ({ args }) => new Options(args, "oft", ["--output"]).all("o", "--output").map(content),
  base64: ({ args }) => new Options(args, "oiw", ["--output", "--input"]).all("o", "--output").map(content),
  uniq: ({ args }) => new Options(args, "fsw").operands.slice(1).map(content),
  xxd: ({ args }) => new Options(args, "clsgonR").operands.slice(1).map(content),
  curl: downloadedByCurl,
  wget: downloadedByWget,
  tar: unpackedByTar,
  bsdtar: unpackedByTar,
  unzip: ({ args }) => new Options(args, "dxP").all("d").map((path) => made(`${path}/${STAR}`)),
  zip: ({ args }) => new Options(args, "xibtnP").operands.slice(0, 1).map(made),
  openssl: ({ args }) => {
    const isEncoding = isBase64(args);
    const paths = args.filter((_, i) => /^-(?:out|keyout|writerand)$/.test(args[i - 1] ?? ""));
    return paths.map((path) => ({ path, isContent: isEncoding }));
  },
  "ssh-keygen": ({ args, cwd }) => {
    const options = new Options(args, "bCfFIJKLMmNnOPRrsTtVwYzZDEAa");
    // ssh-keygen asks before it overwrites an existing key.
    const files = options.all("f").filter((path) => !/\/\.ssh\/id_[\w-]+$/.test(locate(path, cwd)));
    return options.has(..."yleipRFY") ? [] : files.map(made);
  },
  mkcert: ({ args }) => args.filter((_, i) => /^-(?:key|cert|p12)-file$/.test(args[i - 1] ?? "")).map(made),
  docker: transferred,
  podman: transferred,
  kubectl: transferred,
  oc: transferred,
  aws: transferred,
  gsutil: transferred,
  gcloud: transferred,
  patch: ({ args, stdin }) => {
    const options = new Options(args, "pdioYzBFDrgV", ["--strip", "--directory", "--input", "--output"]);
    const isContent = stdin.origin === "shell" && !options.has("i", "--input");
    const { operands } = options;
    return isContent && operands.length === 0
      ? [content("the patched files")]
      : operands.slice(0, 1).map((path) => ({ path, isContent }));
  },
  split: ({ stdin }) => (stdin.origin === "shell" ? [content("the parts")] : []),
  uudecode: ({ args, stdin }) => {
    const paths = new Options(args, "o").all("o");
    return paths.length > 0 ? paths.map(content) : stdin.origin === "shell" ? [content("the decoded file")] : [];
  },
  "Set-Content": foreignContent,
  "Add-Content": foreignContent,
  "Out-File": foreignContent,
};

/** `docker cp`, `kubectl cp`, `aws s3 cp`: the last word is the destination; `host:path` and `s3://` are remote. */
function transferred({ args }: Call): Written[] {
  const at = args.findIndex((arg) => arg === "cp" || arg === "mv" || arg === "sync");
  const target =
    at < 0
      ? undefined
      : args
          .slice(at + 1)
          .filter((arg) => !arg.startsWith("-"))
          .at(-1);
  return target === undefined || /^[^/]*:/.test(target) ? [] : [made(target)];
}

/** `openssl base64`, `openssl enc -base64` only re-encode text; encryption counts as program output. */
export function isBase64([verb, ...options]: readonly string[]): boolean {
  return verb === "base64" || (verb === "enc" && options.some((option) => option === "-base64" || option === "-a"));
}

function foreignContent({ args }: Call): Written[] {
  return [content(args.find((arg) => !arg.startsWith("-")) ?? "a file")];
}

const outputNames = new Set(["-o", "-out", "--out", "--output", "--outfile", "--out-file", "--output-file"]);
/** Programs whose `-o` does not name a file. */
const outputIsNotAFile = new Set(
  "ssh sftp sshfs mount grep egrep fgrep rg ps ls set bash sh zsh find test pgrep lsof kubectl docker".split(" "),
);

function byOutputOption(args: readonly string[]): Written[] {
  return args.flatMap((arg, i) => {
    const [name, value] = cutAtEquals(arg);
    if (!outputNames.has(name)) return [];
    const path = value ?? args[i + 1];
    return path === undefined ? [] : [made(path)];
  });
}

function downloadedByCurl({ args }: Call): Written[] {
  const long = [
    "--output",
    "--output-dir",
    "--dump-header",
    "--cookie-jar",
    "--data",
    "--header",
    "--request",
    "--user",
  ];
  const options = new Options(args, "AbcCdDeEFHKmoPQrtTuUwxXyYz", long);
  const [directory] = options.all("--output-dir");
  const isOwnText = options.operands.some((url) => /^file:\/+(?:dev|proc)\//.test(url));
  const paths = options.all("o", "--output", "D", "--dump-header", "c", "--cookie-jar").filter((path) => path !== "-");
  const names = options.has("O", "--remote-name") ? options.operands.map(nameInUrl) : [];
  const placed =
    directory === undefined ? [...paths, ...names] : [...paths, ...names].map((path) => `${directory}/${path}`);
  return placed.map((path) => ({ path, isContent: isOwnText }));
}

function downloadedByWget({ args }: Call): Written[] {
  const long = ["--output-document", "--directory-prefix", "--output-file", "--header", "--post-data"];
  const options = new Options(args, "OPoaiBtTwQUeRADIXl", long);
  const named = options.all("O", "--output-document").filter((path) => path !== "-");
  const [directory = "."] = options.all("P", "--directory-prefix");
  const paths = options.has("O", "--output-document")
    ? named
    : options.operands.map((url) => `${directory}/${nameInUrl(url)}`);
  return [...paths, ...options.all("o", "--output-file")].map(made);
}

function nameInUrl(url: string): string {
  return baseName(url.replace(/[?#].*$/s, ""));
}

function unpackedByTar({ args }: Call): Written[] {
  const [first = "", ...rest] = args;
  // `tar xzf a.tgz`: the dash is optional.
  const all = /^[a-zA-Z]+$/.test(first) ? [`-${first}`, ...rest] : args;
  const options = new Options(all, "fCbTXgIKNVL", ["--file", "--directory"]);
  if (options.has("x", "--extract", "--get")) {
    return options.all("C", "--directory").map((path) => made(`${path}/${STAR}`));
  }
  return options.has("c", "--create") ? options.all("f", "--file").map(made) : [];
}
