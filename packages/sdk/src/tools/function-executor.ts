// The executor of tools that are functions of this process.

import { definitionHash, type HashText, resolveOptions, ToolplaneError, UsageError } from "@toolplane/protocol";
import type { Executor, ToolProfile } from "../runner/executor.ts";
import type { CallScope } from "./call-scope.ts";
import { type DefinitionPlace, definitionOf, type Tool } from "./define-tool.ts";

export interface FunctionExecutorOptions extends DefinitionPlace {
  readonly tools: readonly Tool[];
  readonly sha256: HashText;
  /** What the plane made of a tool's definition at registration: a person may have pinned it. */
  readonly served?: ((toolName: string) => Served | undefined) | undefined;
  /** Where the process must know whose code runs; following that costs a little per call. */
  readonly scope?: CallScope | undefined;
}

interface Served {
  readonly definitionHash: string;
  readonly pin: ToolProfile["pin"] | undefined;
}

const profileOf = (
  tool: Tool,
  { sha256, ...place }: Omit<FunctionExecutorOptions, "served" | "scope">,
): ToolProfile => {
  const { retry, retryPolicy, timeoutSeconds, pin } = resolveOptions(tool.options);
  return {
    retry,
    isRetriedByPlane: retryPolicy !== undefined,
    timeoutSeconds,
    pin,
    definitionHash: definitionHash(definitionOf(tool, place), sha256),
    // The result comes from the author's own function, not from a foreign system, so its control keys count.
    control: "allow",
    secrets: tool.secrets,
    envs: tool.options.envs ?? {},
  };
};

export const createFunctionExecutor = (options: FunctionExecutorOptions): Executor => {
  const byName = new Map<string, { readonly tool: Tool; readonly profile: ToolProfile }>();
  for (const tool of options.tools) {
    if (byName.has(tool.name)) throw new UsageError(`two tools are named ${tool.name}`);
    byName.set(tool.name, { tool, profile: profileOf(tool, options) });
  }
  return {
    find(toolName) {
      const profile = byName.get(toolName)?.profile;
      const served = options.served?.(toolName);
      if (profile === undefined || served === undefined) return profile;
      return { ...profile, definitionHash: served.definitionHash, pin: served.pin ?? profile.pin };
    },
    async execute(call, context) {
      const found = byName.get(call.toolName);
      if (found === undefined) throw new ToolplaneError("not_found", `there is no tool ${call.toolName} here`);
      // A copy for every attempt: a function that changes its arguments must not change those of the next attempt.
      const run = (): Promise<unknown> => found.tool.run(structuredClone(call.arguments), { ...context, call });
      const { toolName, toolCallId } = call;
      return options.scope === undefined
        ? run()
        : options.scope.run({ toolName, toolCallId, scrub: context.scrub }, run);
    },
  };
};
