import { expect, test } from "vitest";
import { exchangeAddress, hasPassword, queueAddress } from "./remote-address.ts";

test.each([
  ["redis://localhost", "redis://localhost"],
  ["redis://127.0.0.1:6380/2", "redis://127.0.0.1:6380/2"],
  ["rediss://maestro@queue.example:6379/", "rediss://maestro@queue.example:6379"],
  ["redis://[::1]:6379", "redis://[::1]:6379"],
])("an address of a queue: %s", (text, address) => {
  expect(queueAddress(text)).toBe(address);
});

test.each([
  "redis://:secret@localhost",
  "redis://user:secret@localhost:6379",
  "redis://localhost?password=secret",
  "redis://localhost:70000",
  "http://localhost:6379",
  "localhost:6379",
  "redis://-oProxyCommand=x",
  "redis://",
  "redis://a b",
])("not an address of a queue: %s", (text) => {
  expect(queueAddress(text)).toBeUndefined();
});

test.each([
  "/srv/exchange.git",
  "/srv/with blanks/exchange.git",
  "file:///srv/exchange.git",
  "ssh://git@host.example:2222/srv/exchange.git",
  "git@host.example:exchange.git",
  "host:~/exchange.git",
])("an address of an exchange: %s", (text) => {
  expect(exchangeAddress(text)).toBe(text);
});

test.each([
  "exchange.git",
  "../exchange.git",
  "-oProxyCommand=x",
  "ssh://-oProxyCommand=x/srv",
  "-host:path",
  "host:-path",
  "ext::sh -c touch% /tmp/x",
  "fd::7",
  "https://user:secret@host.example/exchange.git",
  "ssh://user:secret@host.example/exchange.git",
  "https://host.example/exchange.git",
  "git://host.example/exchange.git",
  "/srv/line\nbreak",
  "",
])("not an address of an exchange: %j", (text) => {
  expect(exchangeAddress(text)).toBeUndefined();
});

test.each([
  ["redis://:secret@host", true],
  ["redis://user:secret@host", true],
  ["redis://host?password=secret", true],
  ["redis://user@host:6379", false],
  ["user@host:path", false],
])("%s has a password: %s", (text, expected) => {
  expect(hasPassword(text)).toBe(expected);
});
