// Validators for data read from disk, composed from small ones: each returns what is wrong with a value and where, or nothing. They use no
// library, because hooks check every line of a journal, and a replay of 25,000 lines must stay fast.

declare const checked: unique symbol;

/** The path to the fault, outermost name first, and what is expected there. */
export interface Fault {
  path: string[];
  expected: string;
}

/** `T` is the type of a value without faults. */
export interface Shape<T> {
  (value: unknown): Fault | undefined;
  readonly [checked]?: T;
}

/** An optional field may be absent. */
interface Optional<T> extends Shape<T> {
  readonly inner: Shape<T>;
}

export type TypeOf<S> = S extends Shape<infer T> ? T : never;
type Fields = Readonly<Record<string, Shape<unknown>>>;
type OptionalNames<F> = { [Name in keyof F]: F[Name] extends Optional<unknown> ? Name : never }[keyof F];
export type TypeOfFields<F> = Flat<
  { [Name in Exclude<keyof F, OptionalNames<F>>]: TypeOf<F[Name]> } & {
    [Name in OptionalNames<F>]?: TypeOf<F[Name]> | undefined;
  }
>;
type Flat<T> = { [Name in keyof T]: T[Name] };

interface ObjectShape<T> extends Shape<T> {
  readonly names: readonly string[];
}

/** `whole`: how the message names the value itself. */
export function faultText({ path, expected }: Fault, whole = "it"): string {
  return `${path.join(".") || whole} must be ${expected}`;
}

/** Anything at all, for parts that another program checks. */
export const anything: Shape<unknown> = () => undefined;

export const anyText: Shape<string> = (value) => (typeof value === "string" ? undefined : fault("text"));

export function text(max: number): Shape<string> {
  return (value) =>
    typeof value === "string" && value.length <= max ? undefined : fault(`text of at most ${max} characters`);
}

const MAX_PATH_CHARS = 4096;

/** Not empty, and without a NUL, which would end the name for the system. */
function isPath(value: unknown): boolean {
  return typeof value === "string" && value.length <= MAX_PATH_CHARS && value !== "" && !value.includes("\0");
}

export const path: Shape<string> = (value) =>
  isPath(value) ? undefined : fault(`a path of at most ${MAX_PATH_CHARS} characters`);

/** A list of paths. Nearly every event has one, so it is checked inline, without a call for each path. */
export const paths: Shape<string[]> = (value) => {
  if (!Array.isArray(value) || value.length > MAX_LISTED) return fault(`a list of at most ${MAX_LISTED} paths`);
  for (let at = 0; at < value.length; at++) if (!isPath(value[at])) return below(String(at), fault("a path"));
  return undefined;
};

/** Maps each path to a word or null. */
export const wordsByPath: Shape<Record<string, string | null>> = (value) => {
  if (!isObject(value)) return fault("an object");
  for (const key in value) {
    const word = value[key];
    const isWord = word === null || (typeof word === "string" && word.length <= MAX_WORD_CHARS);
    if (!isWord || !isPath(key)) return below(key, fault("a word for a path"));
  }
  return undefined;
};

const MAX_LISTED = 100_000;
const MAX_WORD_CHARS = 64;

/** `Text`: the type of text that has this form. */
export function matching<Text extends string = string>(form: RegExp, expected: string): Shape<Text> {
  return (value) => (typeof value === "string" && form.test(value) ? undefined : fault(expected));
}

const MAX_TIME_CHARS = 64;

/** Anything that Date.parse accepts. */
export const time: Shape<string> = (value) =>
  typeof value === "string" && value.length <= MAX_TIME_CHARS && !Number.isNaN(Date.parse(value))
    ? undefined
    : fault("a time");

export function oneOf<const Word extends string>(words: readonly Word[]): Shape<Word> {
  const known: ReadonlySet<unknown> = new Set(words);
  return (value) => (known.has(value) ? undefined : fault(`one of ${words.join(", ")}`));
}

export const yes: Shape<true> = (value) => (value === true ? undefined : fault("true"));
export const boolean: Shape<boolean> = (value) => (typeof value === "boolean" ? undefined : fault("true or false"));

/** An integer within the safe range. */
export function integer(least: number, most = Number.MAX_SAFE_INTEGER): Shape<number> {
  return (value) =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
      ? undefined
      : fault(`a whole number from ${least} to ${most}`);
}

/** Exactly this value, such as the version of a format. */
export function only<const Value extends string | number>(wanted: Value): Shape<Value> {
  return (value) => (value === wanted ? undefined : fault(JSON.stringify(wanted)));
}

export const finite: Shape<number> = (value) => (Number.isFinite(value) ? undefined : fault("a number"));

export function number(least: number): Shape<number> {
  return (value) =>
    Number.isFinite(value) && (value as number) >= least ? undefined : fault(`a number of at least ${least}`);
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return (value) => (value === null ? undefined : shape(value));
}

export function optional<T>(shape: Shape<T>): Optional<T> {
  const check = (value: unknown) => shape(value);
  return Object.assign(check, { inner: shape });
}

/** Runs `whole` only when all parts are valid. */
export function refined<T>(shape: Shape<T>, whole: (value: T) => Fault | undefined): Shape<T> {
  return (value) => shape(value) ?? whole(value as T);
}

export function list<T>(item: Shape<T>, max = MAX_LISTED): Shape<T[]> {
  return (value) => {
    if (!Array.isArray(value) || value.length > max) return fault(`a list of at most ${max}`);
    for (let at = 0; at < value.length; at++) {
      const found = item(value[at]);
      if (found !== undefined) return below(String(at), found);
    }
    return undefined;
  };
}

export function record<T>(name: Shape<string>, item: Shape<T>): Shape<Record<string, T>> {
  return (value) => {
    if (!isObject(value)) return fault("an object");
    for (const key in value) {
      const found = name(key) ?? item(value[key]);
      if (found !== undefined) return below(key, found);
    }
    return undefined;
  };
}

/** Accepts these fields and no others, except those in `seen`, which the caller has already checked. */
export function object<F extends Fields>(fields: F, seen: readonly string[] = []): ObjectShape<TypeOfFields<F>> {
  const names = Object.keys(fields);
  const parts = new Map(names.map((name) => [name, partOf(fields[name] as Shape<unknown>)]));
  for (const name of seen) parts.set(name, { shape: null, needed: 0 });
  const wanted = [...parts.values()].reduce((sum, { needed }) => sum + needed, 0);
  const check = (value: unknown) => {
    if (!isObject(value)) return fault("an object");
    let given = 0;
    // Iterates in the order of the object itself: looking up each name would cost several times as much.
    for (const name in value) {
      const field = value[name];
      const part = parts.get(name);
      // A field whose value is undefined is not written to JSON.
      if (field === undefined || part?.shape === null) continue;
      if (part === undefined) return below(name, fault("left out: it is not a known field"));
      given += part.needed;
      const found = part.shape(field);
      if (found !== undefined) return below(name, found);
    }
    return given === wanted ? undefined : missingField(value, parts);
  };
  return Object.assign(check, { names });
}

/** Everything that is wrong with an object of these fields, for a file that a person wrote and fixes in one go. */
export function allFaults<F extends Fields>(fields: F, value: unknown): Fault[] {
  if (!isObject(value)) return [fault("an object")];
  const wrong = Object.entries(fields).flatMap(([name, shape]) => {
    const { shape: check, needed } = partOf(shape);
    const isAbsent = value[name] === undefined && needed === 0;
    const found = isAbsent ? undefined : check?.(value[name]);
    return found === undefined ? [] : [below(name, found)];
  });
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(fields, name));
  return [...wrong, ...unknown.map((name) => below(name, fault("left out: it is not a known field")))];
}

interface Part {
  /** Null for a field that the caller has already checked. */
  shape: Shape<unknown> | null;
  /** 1 for a required field. */
  needed: 0 | 1;
}

function partOf(field: Shape<unknown>): Part {
  return "inner" in field ? { shape: (field as Optional<unknown>).inner, needed: 0 } : { shape: field, needed: 1 };
}

function missingField(value: Record<string, unknown>, parts: ReadonlyMap<string, Part>): Fault {
  const [name = "", part] = [...parts].find(([one, { needed }]) => needed === 1 && value[one] === undefined) ?? [];
  return below(name, part?.shape?.(undefined) ?? fault("there"));
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fault(expected: string): Fault {
  return { path: [], expected };
}

function below(name: string, { path: rest, expected }: Fault): Fault {
  return { path: [/^[\w.-]{1,100}$/.test(name) ? name : quoted(name), ...rest], expected };
}

const MAX_QUOTED_CHARS = 100;

/** Formats an untrusted value for a message: quoted, on one line, nothing hidden, and cut to a maximum length. */
export function quoted(value: unknown): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const text = typeof value === "object" ? "an object" : String(value);
  return JSON.stringify(text.slice(0, MAX_QUOTED_CHARS)).replace(/[^\x20-\x7e]/g, escaped);
}
