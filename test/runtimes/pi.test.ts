import { casesOf } from "./support/cases.ts";
import { pi } from "./support/described.ts";

casesOf(pi);
