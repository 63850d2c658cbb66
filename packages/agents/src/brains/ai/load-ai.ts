// Loads the `ai` SDK when a model is first asked: the provider packages are the largest thing a worker loads, and scripts need
// none of them.
// In development our packages find each other's TypeScript by the condition `source`. A package below the SDK publishes its
// TypeScript under the same condition, and Node does not strip types in node_modules. So while the SDK loads, installed packages
// are resolved to their built files.

import { registerHooks } from "node:module";

const OURS_IN_DEVELOPMENT = "source";

const importAi = async (): Promise<typeof import("./ai-brain.ts")> => {
  const hooks = registerHooks({
    resolve(specifier, context, nextResolve) {
      if (context.parentURL?.includes("/node_modules/") !== true) return nextResolve(specifier, context);
      const conditions = context.conditions.filter((condition) => condition !== OURS_IN_DEVELOPMENT);
      return nextResolve(specifier, { ...context, conditions });
    },
  });
  try {
    return await import("./ai-brain.ts");
  } finally {
    hooks.deregister();
  }
};

let loading: ReturnType<typeof importAi> | undefined;

export const loadAi = (): ReturnType<typeof importAi> => {
  loading ??= importAi();
  return loading;
};
