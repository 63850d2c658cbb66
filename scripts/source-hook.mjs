// `node --import ./scripts/source-hook.mjs PROGRAM`: runs a program from source that uses the SDK of MCP. `--conditions=source` would
// also reach packages that publish TypeScript under the same condition, which Node does not run from node_modules.

import module from "node:module";

module.registerHooks({
  resolve: (specifier, context, next) =>
    /^@toolplane\//.test(specifier)
      ? next(specifier, { ...context, conditions: ["source", ...context.conditions] })
      : next(specifier, context),
});
