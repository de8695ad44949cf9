// Splits a line into a leading field name and its value, in the forms that agents write.

/** Names are short, so the search stops here. */
const reach = 80;

/** `Status: x`, `**Status:** x`, `**Status** x`, `* Status — x`, `"status": x`, or the bare name with an empty value. */
export function nameAndValue<K>(text: string, keyOf: (name: string) => K | null): { key: K; value: string } | null {
  const decoration = /^[^\p{L}\p{N}*_`"|]*/u.exec(text.slice(0, 20))?.[0] ?? "";
  const line = text.slice(decoration.length);
  const head = line.slice(0, reach);

  const wrapped = /^(\*{1,3}|_{1,3}|`|")(.+?)\1/u.exec(head);
  const wrappedKey = wrapped === null ? null : keyOf(wrapped[2] ?? "");
  if (wrapped !== null && wrappedKey !== null) {
    const rest = line.slice(wrapped[0].length);
    return { key: wrappedKey, value: rest.replace(/^\s*(?:[:：=]|[—–-]+(?=\s))?\s*/u, "").trim() };
  }

  const separator = /[:：=—–]|\s-\s/u.exec(head);
  if (separator === null) {
    const bare = line.length > reach ? null : keyOf(line);
    return bare === null ? null : { key: bare, value: "" };
  }
  const name = head.slice(0, separator.index);
  const key = keyOf(name);
  if (key === null) return null;
  const value = line.slice(separator.index + separator[0].length).trim();
  // `**Status:** x`: the emphasis opened before the name closes after the separator.
  const emphasis = /^(?:\*+|_+)/.exec(name)?.[0] ?? "";
  return { key, value: value.startsWith(emphasis) ? value.slice(emphasis.length).trim() : value };
}
