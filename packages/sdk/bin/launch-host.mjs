// Runs the host: from source in a checkout, where packages resolve to their TypeScript by the `source` condition, else what
// was built.

import { existsSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";
import { keepCompiledCode } from "./code-cache.mjs";
import { moveStdio } from "./move-stdio.mjs";

const PROGRAM = fileURLToPath(new URL("./toolplane-host.mjs", import.meta.url));
const SOURCE = new URL("../src/host/main.ts", import.meta.url);
const BUILT = new URL("../dist/host/main.js", import.meta.url);

// Only our own packages: others publish TypeScript under the same condition, which Node does not run from node_modules.
const resolveToSource = () =>
  module.registerHooks({
    resolve: (specifier, context, next) =>
      /^@toolplane\//.test(specifier)
        ? next(specifier, { ...context, conditions: ["source", ...context.conditions] })
        : next(specifier, context),
  });

/** @param {readonly string[]} args */
export const launch = async (args) => {
  const { argv, moved } = moveStdio(PROGRAM, args);
  keepCompiledCode();
  const fromSource = existsSync(SOURCE);
  if (fromSource) resolveToSource();
  const { main } = await import((fromSource ? SOURCE : BUILT).href);
  await main(argv, moved);
};
