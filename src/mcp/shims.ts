// Takes the place of the SDK's own shims in the bundle: theirs bring a JSON Schema validator of 150 kB along, which would be read at
// every start and which nothing here uses. Our inputs are read by zod.

import process from "node:process";

export { process };

export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error("This server validates nothing by JSON Schema");
  }
}
