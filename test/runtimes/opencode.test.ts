import { casesOf } from "./support/cases.ts";
import { opencode } from "./support/described.ts";

casesOf(opencode);
