// The one way out: a `fetch` and a dispatcher that are bound to a policy.
//   EG1. Every request and every redirect is checked by its text (planTarget) before a name is resolved.
//   EG2. A connection is made only to addresses that were checked (createConnector), however the dispatcher is used.
//   EG3. Headers, body, redirects and time have a limit each; the time counts until the last byte.
//   EG4. An error is a ToolplaneError that names the host and never a header, a body or a query.
//   EG5. Variables such as HTTP_PROXY change nothing: a proxy would resolve names by itself.

import { ToolplaneError, UsageError } from "@toolplane/protocol";
import { Agent, type Dispatcher, fetch as undiciFetch } from "undici";
import type { AllowedOrigin } from "../policy/allowed-origin.ts";
import { parseHostPattern } from "../policy/host-name.ts";
import { planTarget } from "../policy/plan-target.ts";
import { createPolicy, type EgressPolicy, type PolicyOptions } from "../policy/policy.ts";
import { createConnector } from "./connector.ts";
import { createDial, type Dial } from "./dial.ts";
import { limitBody } from "./limit-body.ts";
import { afterRedirect, planRedirect, readLocation } from "./plan-redirect.ts";
import { type AskedHop, type Hop, readRequest } from "./read-request.ts";
import { type FailureContext, understandFailure } from "./request-failure.ts";
import { type ResolveHost, resolveHost } from "./resolve-host.ts";

export interface EgressOptions extends PolicyOptions {
  readonly resolve?: ResolveHost | undefined;
  readonly dial?: Dial | undefined;
}

export interface Egress {
  readonly policy: EgressPolicy;
  /** As the global one, with bodies as text or bytes; rejects with a ToolplaneError, or with the reason of an abort. */
  readonly fetch: typeof globalThis.fetch;
  /** The same `fetch` for one user of it: only these hosts (patterns), at every hop. What the policy refuses stays refused. */
  within(hosts: readonly string[]): typeof globalThis.fetch;
  /** For clients that build their own requests; they must limit redirects and unpacked bodies themselves. */
  readonly dispatcher: Dispatcher;
  /** Aborts requests under way. */
  close(): Promise<void>;
}

type Answer = Awaited<ReturnType<typeof undiciFetch>>;

/** Connections to one origin at once; further requests wait. */
const MAX_CONNECTIONS = 128;
const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

const createDispatcher = (
  policy: EgressPolicy,
  { resolve = resolveHost, dial = createDial() }: EgressOptions,
): Agent => {
  const { headerBytes, bodyBytes, idleMs } = policy.limits;
  return new Agent({
    connect: createConnector({ policy, resolve, dial }),
    connections: MAX_CONNECTIONS,
    maxHeaderSize: headerBytes,
    maxResponseSize: bodyBytes,
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
  });
};

/** A body that is packed twice can cause endless work with a few bytes; no server needs it. */
const checkCoding = async (answer: Answer, host: string): Promise<void> => {
  if (answer.headers.get("content-encoding")?.includes(",") !== true) return;
  await answer.body?.cancel();
  throw new ToolplaneError("upstream_unavailable", `the answer of ${host} is packed more than once`);
};

const finish = (answer: Answer, url: URL, context: FailureContext): Response => {
  const { status, statusText, body } = answer;
  const isEmpty = body === null || WITHOUT_BODY.has(status);
  const limited = isEmpty ? null : limitBody(body as ReadableStream<Uint8Array>, context);
  const response = new Response(limited, { status, statusText, headers: [...answer.headers] });
  // After redirects the final address differs from the requested one.
  Object.defineProperty(response, "url", { value: url.href });
  return response;
};

export const createEgress = (options: EgressOptions = {}): Egress => {
  const policy = createPolicy(options);
  const { limits, redirects } = policy;
  const dispatcher = createDispatcher(policy, options);

  const send = async (hop: AskedHop, context: FailureContext): Promise<Answer> => {
    const { signal, deadline } = context;
    try {
      return await undiciFetch(hop.url, {
        method: hop.method,
        headers: [...hop.headers],
        redirect: "manual",
        signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
        dispatcher,
        ...(hop.body === undefined ? {} : { body: hop.body }),
      });
    } catch (error) {
      throw understandFailure(error, context);
    }
  };

  const askHop = async (
    next: Hop,
    held: EgressPolicy,
    signals: Pick<FailureContext, "signal" | "deadline">,
  ): Promise<{ hop: AskedHop; origin: AllowedOrigin; context: FailureContext; answer: Answer }> => {
    const { url, origin } = planTarget(next.url, held);
    const context = { host: origin.host, address: url.host, limits, ...signals };
    const hop = { ...next, url };
    return { hop, origin, context, answer: await send(hop, context) };
  };

  const ask = async (
    held: EgressPolicy,
    input: Parameters<typeof fetch>[0],
    init: RequestInit | undefined,
  ): Promise<Response> => {
    const signal = init?.signal ?? undefined;
    const deadline = AbortSignal.timeout(limits.totalMs);
    let next = readRequest(input, init);
    let from: string | undefined;
    for (let followed = 0; ; followed++) {
      const { hop, origin, context, answer } = await askHop(next, held, { signal, deadline }).catch(
        (error: unknown) => {
          throw from === undefined ? error : afterRedirect(error, from);
        },
      );
      const { url } = hop;
      const location = redirects === 0 ? undefined : readLocation(answer);
      if (location === undefined) {
        await checkCoding(answer, origin.host);
        return finish(answer, url, context);
      }
      await answer.body?.cancel();
      if (followed >= redirects)
        throw new ToolplaneError(
          "upstream_unavailable",
          `the host ${origin.host} redirects more than ${redirects} times`,
        );
      next = planRedirect(hop, answer.status, location);
      from = origin.host;
    }
  };

  return {
    policy,
    fetch: (input, init) => ask(policy, input, init),
    within(hosts) {
      const only = hosts.map(parseHostPattern);
      const { hosts: all } = policy;
      if (all !== "any") throw new UsageError("only a policy for any host can be narrowed");
      return (input, init) => ask({ ...policy, hosts: only }, input, init);
    },
    dispatcher,
    close: () => dispatcher.destroy(),
  };
};
