// Runs the command line: from source in a checkout, where packages resolve to their TypeScript by the `source`
// condition, else what was built. In this very process: a second one would cost memory, and signals would need relaying.

import { existsSync } from "node:fs";
import module from "node:module";
import { keepCompiledCode } from "./code-cache.mjs";

const SOURCE = new URL("../src/cli/main.ts", import.meta.url);
const BUILT = new URL("../dist/cli/main.js", import.meta.url);

// Only our own packages: others publish TypeScript under the same condition, which Node does not run from node_modules.
const resolveToSource = () =>
  module.registerHooks({
    resolve: (specifier, context, next) =>
      /^@toolplane\//.test(specifier)
        ? next(specifier, { ...context, conditions: ["source", ...context.conditions] })
        : next(specifier, context),
  });

/** @param {readonly string[]} argv */
export const launch = async (argv) => {
  // Node opens its debugger on this signal, and with it everything we know: a tool host of our own user may send it.
  process.on("SIGUSR1", () => undefined);
  keepCompiledCode();
  const fromSource = existsSync(SOURCE);
  if (fromSource) resolveToSource();
  const { main } = await import((fromSource ? SOURCE : BUILT).href);
  const code = await main(argv);
  // What was written must leave first; then nothing that is still open may keep the process.
  process.stdout.write("", () => process.exit(code));
};
