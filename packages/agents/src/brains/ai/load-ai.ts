// Loads the `ai` SDK when a model is first asked for: the provider packages are the largest thing a worker can hold, and
// scripts need none of them.
// Our packages find each other's TypeScript in development by the condition `source`. Some package below the SDK publishes
// its TypeScript under the same word, and Node strips no types there; so while the SDK loads, packages that others
// installed are asked for what they built.

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
