import { expect, test } from "vitest";
import { DefaultJsonSchemaValidator, process as shimmed } from "./shims.ts";

test("stands in for the SDK's shims, and says so when somebody wants to validate by JSON Schema", () => {
  expect(shimmed).toBe(process);
  expect(() => new DefaultJsonSchemaValidator().getValidator()).toThrow("validates nothing by JSON Schema");
});
