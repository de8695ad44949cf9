// Reads the addresses of a queue and of an exchange. A password is never part of one: an address is shown, recorded and put on command lines.

/** What an address of a queue must be, for messages. */
export const QUEUE_EXPECTED = "redis://host:port or rediss://host:port, with a user name at most and no password";
export const EXCHANGE_EXPECTED = "an absolute path, ssh://host/path or user@host:path, without a password";

const queueForm =
  /^rediss?:\/\/(?:[\w.%-]{1,100}@)?(?:[A-Za-z0-9][\w.-]{0,252}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?(?:\/\d{0,3})?$/;

/** The address of a queue in normal form; undefined when it is not one, or has a password. */
export function queueAddress(text: string): string | undefined {
  return queueForm.test(text) && portOf(text) <= 65_535 ? text.replace(/\/$/, "") : undefined;
}

function portOf(text: string): number {
  return Number(/:(\d{1,5})(?:\/\d{0,3})?$/.exec(text)?.[1] ?? 0);
}

/** Whether the text has a password between `://` and the host. */
export function hasPassword(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*:[^/?#]*@/i.test(text) || /[?&]password=/i.test(text);
}

const host = "(?:[A-Za-z0-9][A-Za-z0-9.-]{0,252}|\\[[0-9A-Fa-f:.]{2,45}\\])";
const user = "(?:[A-Za-z0-9_][\\w.-]{0,100}@)?";
const path = "[^\\p{C}]{1,3000}";
/** No form begins with a hyphen, which would be an option, and none names a helper program of git (`ext::`). */
const exchangeForms = [
  new RegExp(`^/${path}$`, "u"),
  new RegExp(`^file:///${path}$`, "u"),
  new RegExp(`^ssh://${user}${host}(?::\\d{1,5})?/${path}$`, "u"),
  new RegExp(`^${user}${host}:(?![:-]|//)${path}$`, "u"),
];

/** The address of an exchange; undefined when git must not be given it. */
export function exchangeAddress(text: string): string | undefined {
  return exchangeForms.some((form) => form.test(text)) && !hasPassword(text) ? text : undefined;
}
