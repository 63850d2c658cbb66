// The plan of a definition with `options.openapi`.

import { resolveOptions, type ToolDefinition } from "@toolplane/protocol";
import type { HttpPlan } from "./http-plan.ts";
import { readOperation } from "./operation.ts";
import { checkAuthPlace } from "./plan-auth.ts";
import { planRequest } from "./plan-request.ts";

export const createOpenapiPlan = (definition: ToolDefinition): HttpPlan => {
  const operation = readOperation(definition);
  const { secretsInUrl } = resolveOptions(definition.options);
  const envs = definition.options.envs ?? {};
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
        secretsInUrl,
        credential: auth && secrets[auth.env],
        idempotencyKey,
        boundary,
      }),
  };
};
