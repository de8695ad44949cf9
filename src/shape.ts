// Checkers for what is read from disk, put together from small ones: each answers what is wrong with a value and where, or nothing.
// No library: hooks check every line of a journal, and a replay of 25,000 lines must hardly notice.

declare const checked: unique symbol;

/** Where the fault is, outermost name first, and what is expected there. */
export interface Fault {
  path: string[];
  expected: string;
}

/** `T` is the type of a value that has no fault. */
export interface Shape<T> {
  (value: unknown): Fault | undefined;
  readonly [checked]?: T;
}

/** As a field it may be left out. */
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

export function faultText({ path, expected }: Fault): string {
  return `${path.join(".") || "it"} must be ${expected}`;
}

export function text(max: number): Shape<string> {
  return (value) =>
    typeof value === "string" && value.length <= max ? undefined : fault(`text of at most ${max} characters`);
}

/** At least one character, and none that ends a name for the system. */
export function path(max: number): Shape<string> {
  return (value) =>
    typeof value === "string" && value.length <= max && value !== "" && !value.includes("\0")
      ? undefined
      : fault(`a path of at most ${max} characters`);
}

export function matching(form: RegExp, expected: string): Shape<string> {
  return (value) => (typeof value === "string" && form.test(value) ? undefined : fault(expected));
}

const MAX_TIME_CHARS = 64;

/** Anything that the language reads as a moment. */
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

/** A whole number that arithmetic keeps exact. */
export function integer(least: number, most = Number.MAX_SAFE_INTEGER): Shape<number> {
  return (value) =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
      ? undefined
      : fault(`a whole number from ${least} to ${most}`);
}

export const finite: Shape<number> = (value) => (Number.isFinite(value) ? undefined : fault("a number"));

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return (value) => (value === null ? undefined : shape(value));
}

export function optional<T>(shape: Shape<T>): Optional<T> {
  const check = (value: unknown) => shape(value);
  return Object.assign(check, { inner: shape });
}

/** `whole` is asked once the parts are right. */
export function refined<T>(shape: Shape<T>, whole: (value: T) => Fault | undefined): Shape<T> {
  return (value) => shape(value) ?? whole(value as T);
}

export function list<T>(item: Shape<T>, max = 100_000): Shape<T[]> {
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

/** These fields and no others, but for those in `seen`, which were looked at before. */
export function object<F extends Fields>(fields: F, seen: readonly string[] = []): ObjectShape<TypeOfFields<F>> {
  const names = Object.keys(fields);
  const parts = names.map((name) => partOf(name, fields[name] as Shape<unknown>));
  const known = new Set([...names, ...seen]);
  const check = (value: unknown) => {
    if (!isObject(value)) return fault("an object");
    let present = seen.length;
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at] as Part;
      // No field is called like a member of every object, so there is no need to ask whose it is.
      const field = value[part.name];
      if (field === undefined && part.isOptional) continue;
      present += 1;
      const found = part.shape(field);
      if (found !== undefined) return below(part.name, found);
    }
    let given = 0;
    for (const _ in value) given += 1;
    return given === present ? undefined : foreignField(value, known);
  };
  return Object.assign(check, { names });
}

interface Part {
  name: string;
  shape: Shape<unknown>;
  isOptional: boolean;
}

function partOf(name: string, field: Shape<unknown>): Part {
  const isOptional = "inner" in field;
  return { name, shape: isOptional ? (field as Optional<unknown>).inner : field, isOptional };
}

/** Fields that are there without a value do not count: they are not written. */
function foreignField(value: object, known: ReadonlySet<string>): Fault | undefined {
  const foreign = Object.keys(value).find((name) => !known.has(name));
  return foreign === undefined ? undefined : below(foreign, fault("left out: no such field is known"));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fault(expected: string): Fault {
  return { path: [], expected };
}

function below(name: string, { path: rest, expected }: Fault): Fault {
  return { path: [/^[\w.-]{1,100}$/.test(name) ? name : quoted(name), ...rest], expected };
}

const MAX_QUOTED_CHARS = 100;

/** Text from the outside, for a message: in quotation marks, in one line, nothing hidden, and not at any length. */
export function quoted(value: unknown): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const text = typeof value === "object" ? "an object" : String(value);
  return JSON.stringify(text.slice(0, MAX_QUOTED_CHARS)).replace(/[^\x20-\x7e]/g, escaped);
}
