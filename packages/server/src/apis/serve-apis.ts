// Serves the tools that are HTTP operations, in every project at once: target `openapi`, actor `tool.openapi`. The definitions say
// what to send; this file says what they may reach and which variables they may use.

import { randomUUID } from "node:crypto";
import { checkHttpDefinition, createHttpExecutor } from "@toolplane/bridges";
import { createEgress, type Egress } from "@toolplane/egress";
import type { AllowedOrigin } from "@toolplane/egress/policy";
import { PROTOCOL_VERSION, type ToolDefinition, ToolplaneError } from "@toolplane/protocol";
import { toolSubjectTemplate } from "@toolplane/protocol/registry";
import type { ToolService } from "@toolplane/sdk";
import { type ServiceMeans, serveAcross } from "../gateway/serve-across.ts";
import type { EnvSource } from "../secrets/env-grants.ts";
import { createServiceSecrets, planServiceEnvs, type ServiceEnvs } from "../secrets/service-secrets.ts";

const API_TARGET = "openapi";

/** Requests mostly wait, so a service takes as many as one claim does. */
const CONCURRENCY = 256;
/** APIs move: a new name, a slash, a region. More hops than this are a loop. */
const REDIRECTS = 5;
/** A card has at most 1 MiB; JSON with blanks may be larger and still fit. */
const BODY_BYTES = 4 * 1024 * 1024;
/** The call's own deadline ends a request; a run has at most seven days. */
const TOTAL_MS = 7 * 86_400_000;

/** The way out of API tools: any public host, of which each definition names its own. */
export const createApiEgress = (
  allow: readonly AllowedOrigin[],
  means: Pick<Parameters<typeof createEgress>[0] & object, "resolve" | "dial"> = {},
): Egress =>
  createEgress({
    ...means,
    hosts: "any",
    allow,
    redirects: REDIRECTS,
    limits: { bodyBytes: BODY_BYTES, totalMs: TOTAL_MS },
  });

/** The tools that this service runs: it does not hear of the older version's commands. */
const isApiTool = ({ target_subject: subject }: ToolDefinition): boolean => {
  const [, version, , , , component, target] = subject.split(".");
  return version === PROTOCOL_VERSION && component === "tool" && target === API_TARGET;
};

/** Options that only this service reads. */
const API_OPTIONS = ["openapi", "jina", "timeout_s", "timeout"] as const;

const withoutService = (key: (typeof API_OPTIONS)[number], name: string): string => {
  const only = `options.${key} works only for tools of the target ${API_TARGET}`;
  if (key === "timeout_s" || key === "timeout") return `${only}: use options.timeout_seconds`;
  const subject = toolSubjectTemplate(API_TARGET, name);
  return `${only}: set target_subject to ${subject}, or leave options.${key} out`;
};

/** Refuses what could not run, and options that no other service reads. */
export const checkApiTool = (definition: ToolDefinition): void => {
  const { options, tool_name: name } = definition;
  if (isApiTool(definition)) {
    checkHttpDefinition(definition);
    return;
  }
  const key = API_OPTIONS.find((one) => options[one] !== undefined);
  if (key === undefined) return;
  throw new ToolplaneError("bad_request", withoutService(key, name), { detail: { path: `$.options.${key}` } });
};

export interface ServeApisOptions extends ServiceMeans {
  readonly egress: Egress;
  readonly envSource: EnvSource;
  readonly serviceEnvs?: ServiceEnvs | undefined;
}

export const serveApis = ({ egress, envSource, serviceEnvs = {}, ...means }: ServeApisOptions): ToolService =>
  serveAcross({
    ...means,
    target: API_TARGET,
    actor: `tool.${API_TARGET}`,
    concurrency: CONCURRENCY,
    executorFor: () =>
      createHttpExecutor({ within: egress.within, now: means.clock.now, token: () => `toolplane-${randomUUID()}` }),
    secretsFor: (projectId) => createServiceSecrets(envSource, projectId),
    envs: planServiceEnvs(serviceEnvs, API_TARGET),
  });
