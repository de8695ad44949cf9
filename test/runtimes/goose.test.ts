import { casesOf } from "./support/cases.ts";
import { goose } from "./support/described.ts";

casesOf(goose);
