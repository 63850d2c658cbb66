// Where the console was built: the package @toolplane/console beside this one, or where Node finds packages. The console is
// optional, and its files are data to this server, so it is not an import.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGE = "@toolplane/console";
const BUILT = join("dist", "index.html");

/** From `src/console` and from `dist/console` alike. */
const BESIDE = fileURLToPath(new URL("../../../console", import.meta.url));

export const findConsole = (): string | undefined => {
  const roots = createRequire(import.meta.url).resolve.paths(PACKAGE) ?? [];
  const places = [BESIDE, ...roots.map((root) => join(root, PACKAGE))];
  const found = places.map((place) => join(place, BUILT)).find((index) => existsSync(index));
  return found === undefined ? undefined : dirname(found);
};
