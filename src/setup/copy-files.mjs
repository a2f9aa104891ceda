// node copy-files.mjs [FOLDER]: completes dist/, or FOLDER, after the compiler: copies what the programs read at run time and tsc does not make.
// dist/ with node_modules beside or above it then runs anywhere: node dist/src/lbctl.js serve --config ...

import { cpSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const dist = process.argv[2] ?? join(repository, "dist");

for (const folder of ["src", "test", "fixtures"]) {
  // The image of the controller is made without the tests.
  if (!existsSync(join(repository, folder))) continue;
  cpSync(join(repository, folder), join(dist, folder), {
    recursive: true,
    filter: (path) => statSync(path).isDirectory() || !path.endsWith(".ts"),
  });
}
// Says the version, and that the .js files are modules.
cpSync(join(repository, "package.json"), join(dist, "package.json"));
