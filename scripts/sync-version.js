// Copies the version of package.json into gemini-extension.json. Run by "npm version".
// import() rather than import: the file works as an ES module and as CommonJS, wherever it is copied.

import("node:fs").then(({ readFileSync, realpathSync, writeFileSync }) => {
  const root = realpathSync(process.argv[1] ?? "").replace(/[\\/]scripts[\\/][^\\/]*$/, "");
  /** @param {string} name */
  const read = (name) => {
    try {
      return JSON.parse(readFileSync(`${root}/${name}`, "utf8"));
    } catch (error) {
      console.error(`ERROR: Cannot read ${name}: ${/** @type {Error} */ (error).message}`);
      process.exit(1);
    }
  };
  const { version } = read("package.json");
  const manifest = { ...read("gemini-extension.json"), version };
  writeFileSync(`${root}/gemini-extension.json`, `${JSON.stringify(manifest, null, 2)}\n`);
  console.log(`Synced gemini-extension.json to v${version}`);
});
