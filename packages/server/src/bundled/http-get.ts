// http_get: reads one address of the web. It is off until the operator of the plane lists hosts for it (`egress.http_get`), and the
// egress guard is its only way out. It has a target of its own, because what it reads is not this installation's own word: models
// see it in a fence, and control keys in it mean nothing (I11).

import { planAnswer, readAnswer } from "@toolplane/bridges";
import type { Egress } from "@toolplane/egress";
import { type JsonObject, ToolplaneError } from "@toolplane/protocol";
import { toolSubjectTemplate } from "@toolplane/protocol/registry";
import type { Executor, ToolProfile, ToolService } from "@toolplane/sdk";
import { type ServiceMeans, serveAcross } from "../gateway/serve-across.ts";

const HTTP_GET = "http_get";
const HTTP_GET_TARGET = "bundled_web";

const TIMEOUT_SECONDS = 30;
/** Requests mostly wait; more than this at once would be a crawler. */
const CONCURRENCY = 64;
const MAX_URL_LENGTH = 8_192;

export const httpGetDefinition = (): JsonObject => ({
  tool_name: HTTP_GET,
  description:
    "Read an address of the web with GET: JSON as it is, other text as data. Only hosts that the operator of the plane allows.",
  parameters: {
    type: "object",
    properties: { url: { type: "string", minLength: 1, maxLength: MAX_URL_LENGTH, description: "https://..." } },
    required: ["url"],
    additionalProperties: false,
  },
  target_subject: toolSubjectTemplate(HTTP_GET_TARGET, HTTP_GET),
  after_execution: "suspend",
  options: { retry: "safe", timeout_seconds: TIMEOUT_SECONDS },
});

const PROFILE: ToolProfile = {
  retry: "safe",
  timeoutSeconds: TIMEOUT_SECONDS,
  pin: "record",
  control: "strip",
  secrets: [],
  envs: {},
};

const isOff = (): ToolplaneError =>
  new ToolplaneError(
    "auth_failed",
    'http_get is off: the operator of the plane lists the hosts it may ask, as in egress.http_get: ["docs.example.com"] of toolplane.yaml',
  );

interface HttpGetOptions {
  readonly egress: Pick<Egress, "within">;
  /** Patterns of host names; empty: the tool is off. */
  readonly hosts: readonly string[];
}

const createHttpGetExecutor = ({ egress, hosts }: HttpGetOptions, now: () => number): Executor => ({
  find: (toolName) => (toolName === HTTP_GET ? PROFILE : undefined),
  async execute({ arguments: args, toolName, toolCallId }, { signal, scrub }) {
    if (hosts.length === 0) throw isOff();
    const startedAt = now();
    const response = await egress.within(hosts)(String(args.url), {
      headers: { accept: "application/json, text/*;q=0.9, */*;q=0.1" },
      signal,
    });
    return planAnswer(await readAnswer(response, startedAt, now), { toolName, toolCallId, now: now(), scrub });
  },
});

export const serveHttpGet = ({ egress, hosts, ...means }: ServiceMeans & HttpGetOptions): ToolService => {
  const executor = createHttpGetExecutor({ egress, hosts }, means.clock.now);
  return serveAcross({
    ...means,
    target: HTTP_GET_TARGET,
    actor: `tool.${HTTP_GET_TARGET}`,
    concurrency: CONCURRENCY,
    executorFor: () => executor,
  });
};
