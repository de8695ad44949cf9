import { casesOf } from "./support/cases.ts";
import { gemini } from "./support/described.ts";

casesOf(gemini);
