import { expect, test } from "vitest";
import { DefaultJsonSchemaValidator, process as shimmed } from "./shims.ts";

test("the validator that replaces the SDK's shim throws when it is used", () => {
  expect(shimmed).toBe(process);
  expect(() => new DefaultJsonSchemaValidator().getValidator()).toThrow("does not validate with JSON Schema");
});
