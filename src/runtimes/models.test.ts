import { expect, test } from "vitest";
import { modelFor } from "./models.ts";

interface Case {
  name?: string;
  model?: string | undefined;
  writer?: string;
  flag?: string;
  standard?: string;
}

test.each<[string, Case, string | null]>([
  ["nothing is set", {}, null],
  ["front matter (E52)", { model: "fm" }, "fm"],
  ["front matter says inherit", { model: "inherit" }, null],
  ["front matter is blank", { model: " " }, null],
  ["the default wins over front matter (E52)", { model: "fm", standard: "def" }, "def"],
  ["the flag wins over the default", { model: "fm", standard: "def", flag: "flag" }, "flag"],
  ["the writer's model is not the coder's (E53)", { writer: "w" }, null],
  [
    "the writer's model wins over all (E53, G81)",
    { name: "technical-writer", model: "fm", standard: "def", flag: "flag", writer: "w" },
    "w",
  ],
  ["the writer in the other spelling", { name: "technical_writer", writer: "w" }, "w"],
  ["the writer without a model of its own", { name: "technical-writer", standard: "def" }, "def"],
  ["empty means unset", { name: "technical-writer", writer: "", flag: " ", standard: "", model: "fm" }, "fm"],
  ["a name is trimmed", { standard: " def " }, "def"],
])("%s", (_, { name = "coder", model, writer = "", flag, standard = "" }, expected) => {
  const settings = { MAESTRO_DEFAULT_MODEL: standard, MAESTRO_WRITER_MODEL: writer };
  expect(modelFor({ name, model }, settings, flag)).toBe(expected);
});
