// What the launchers of this project's programs share.

import { existsSync } from "node:fs";
import module from "node:module";

export { keepCompiledCode } from "./code-cache.mjs";
export { exitNow } from "./exit-now.mjs";

// Only our own packages: others publish TypeScript under the same condition, which Node does not run from node_modules.
const resolveToSource = () =>
  module.registerHooks({
    resolve: (specifier, context, next) =>
      /^@toolplane\//.test(specifier)
        ? next(specifier, { ...context, conditions: ["source", ...context.conditions] })
        : next(specifier, context),
  });

/**
 * The program's module: from source in a checkout, where packages resolve to their TypeScript by the `source` condition, else what
 * was built.
 * @param {URL} source
 * @param {URL} built
 */
export const importProgram = (source, built) => {
  const fromSource = existsSync(source);
  if (fromSource) resolveToSource();
  return import((fromSource ? source : built).href);
};
