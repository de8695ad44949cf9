import { casesOf } from "./support/cases.ts";
import { qwen } from "./support/described.ts";

casesOf(qwen);
