// Which variables of the environment are set. Gemini CLI fills the variables that the extension's manifest names: one that the user has not
// set arrives as an empty text or as its own name.

type Environment = Readonly<Record<string, string | undefined>>;

/** Without variables that have no value. */
export function withoutEmpty(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => !isUnset(name, value)));
}

function isUnset(name: string, value: string | undefined): boolean {
  return value === undefined || value === "" || value === `$${name}` || value === `\${${name}}`;
}
