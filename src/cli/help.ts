// The last part of `maestro --help`: settings, exit codes and examples.

import { definitions } from "../settings.ts";

export function mainHelp(): string {
  const width = Math.max(...Object.keys(definitions).map((name) => name.length));
  const settings = Object.entries(definitions).map(([name, { default: value, meaning }]) => {
    const shown = String(value) === "" ? "" : ` [${value}]`;
    return `  ${name.padEnd(width)}  ${meaning}${shown}`;
  });
  return `
Settings (exported variable, then .env of the project, then .env of the extension, then the default):
${settings.join("\n")}

Exit codes:
  0 done   1 failed   2 usage or invalid plan   3 configuration or environment   4 needs a decision   5 quota
  129, 130, 143 interrupted   (dispatch: the number of agents that failed)

Examples:
  maestro rehearse plan.md
  maestro run plan.md --mode parallel
  maestro status`;
}
