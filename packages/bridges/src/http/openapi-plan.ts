// The plan of a definition with `options.openapi`.

import { foldName, resolveOptions, type ToolDefinition } from "@toolplane/protocol";
import type { HttpPlan } from "./http-plan.ts";
import { readOperation } from "./operation.ts";
import { checkAuthPlace } from "./plan-auth.ts";
import { planRequest } from "./plan-request.ts";

export const createOpenapiPlan = (definition: ToolDefinition): HttpPlan => {
  const operation = readOperation(definition);
  const { secretsInUrl } = resolveOptions(definition.options);
  const { args: layers, envs = {}, input } = definition.options;
  const managed = new Set(
    [...Object.keys(layers?.fixed ?? {}), ...Object.keys(envs), ...(input === undefined ? [] : [input])].map(foldName),
  );
  const { auth, allowHosts, timeoutMs, baseUrl } = operation;
  checkAuthPlace(auth, secretsInUrl);
  return {
    declared: { secrets: auth === undefined ? [] : [auth.env], envs, sentTo: new URL(baseUrl).hostname },
    allowHosts,
    timeoutMs,
    request: ({ arguments: args, secrets, idempotencyKey, boundary }) =>
      planRequest(operation, {
        arguments: args,
        secretArguments: new Set(Object.keys(envs)),
        managed,
        secretsInUrl,
        credential: auth && secrets[auth.env],
        idempotencyKey,
        boundary,
      }),
  };
};
