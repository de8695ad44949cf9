import { expect, test } from "vitest";
import { withoutEmpty } from "./environment.ts";

test("a variable that the manifest names and the user has not set is not set", () => {
  const env = { KEY: "secret", EMPTY: "", NAMED: "$NAMED", BRACED: `\${BRACED}`, OTHER: "$KEY", ABSENT: undefined };
  expect(withoutEmpty(env)).toEqual({ KEY: "secret", OTHER: "$KEY" });
});
