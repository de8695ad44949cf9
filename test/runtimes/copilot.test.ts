import { casesOf } from "./support/cases.ts";
import { copilot } from "./support/described.ts";

casesOf(copilot);
