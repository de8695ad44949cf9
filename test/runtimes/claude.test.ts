import { casesOf } from "./support/cases.ts";
import { claude } from "./support/described.ts";

casesOf(claude);
