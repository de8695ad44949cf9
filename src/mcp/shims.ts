// Replaces the SDK's shims in the bundle: those include a 150 kB JSON Schema validator, which would be loaded at every start although
// Maestro validates its inputs with zod.

import process from "node:process";

export { process };

export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error("This server does not validate with JSON Schema");
  }
}
