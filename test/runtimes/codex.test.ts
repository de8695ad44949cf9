import { casesOf } from "./support/cases.ts";
import { codex } from "./support/described.ts";

casesOf(codex);
