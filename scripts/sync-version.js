// Copies the version of package.json into gemini-extension.json. Run by "npm version".
// import() rather than import: the file works as an ES module and as CommonJS, wherever it is copied.

import("node:fs").then(({ readFileSync, realpathSync, writeFileSync }) => {
  const root = realpathSync(process.argv[1]).replace(/[\\/]scripts[\\/][^\\/]*$/, "");
  const { version } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));
  const path = `${root}/gemini-extension.json`;
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, `${JSON.stringify({ ...manifest, version }, null, 2)}\n`);
  console.log(`Synced gemini-extension.json to v${version}`);
});
