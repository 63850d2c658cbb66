// The exchange: items of a service and its request for work, in one request, over HTTP and NATS.
//   - Items are answered as soon as they are carried out. Only an exchange without items waits for work, so no result waits
//     behind a long poll.
//   - Over NATS the plane does not see when an asker is gone, and an answer can be lost without a sign. So an exchange there brings only
//     calls that may run again, under a short lease. Calls of other tools come from the target's durable and are leased one by one under
//     a ticket.

import type { LeasedCall } from "@toolplane/engine";
import { refuseUnstorable, type ToolplaneError, understandError } from "@toolplane/protocol";
import { z } from "zod";
import type { BodyOf } from "../http/answers.ts";
import { refuseUnknownProject } from "../http/known-project.ts";
import { checkTarget, claimCalls, claimFields, giveBackCalls, MAX_CLAIM, waitSeconds } from "./claim-calls.ts";
import { type ExchangedItems, exchangeItems, ITEM_KINDS, itemAnswers, itemLists, itemParts } from "./exchange-items.ts";
import { commandShape } from "./lease-operations.ts";
import { MAX_RESULT_BYTES } from "./result-operations.ts";
import { operation, type ServiceRequest } from "./service-request.ts";

export const exchangeBody = z.strictObject({
  ...itemLists,
  ...claimFields,
  max: z.number().int().min(0).max(MAX_CLAIM).default(0),
  wait_seconds: waitSeconds.default(0),
});

/** Over NATS a service that stops says so: the plane does not see it. */
const natsExchangeBody = exchangeBody.extend({ leaves: z.boolean().optional() });

export const exchangedBody = z
  .strictObject({ ...itemAnswers, parts: itemAnswers.parts.optional(), commands: z.array(commandShape) })
  .meta({ id: "Exchanged" });

export type ExchangeBody = z.infer<typeof natsExchangeBody>;

export interface Exchanged {
  /** The answers to what was said. */
  readonly said: Omit<BodyOf<typeof exchangedBody>, "commands">;
  readonly commands: readonly LeasedCall[];
  /** Errors on our side, for the log. */
  readonly faults: readonly ToolplaneError[];
}

const saysSomething = (body: ExchangeBody): boolean => ITEM_KINDS.some((kind) => body[kind].length > 0);

/** How long an exchange waits for work: not at all when it has items, because their answers are awaited. */
export const exchangeWaitMs = (body: ExchangeBody): number => (saysSomething(body) ? 0 : body.wait_seconds * 1_000);

type Claimed = { readonly commands: readonly LeasedCall[]; readonly failed?: ToolplaneError };

/** When the claim fails, the answers of the items are still sent; without items the failure is the answer. */
const claimBeside = async (body: ExchangeBody, claim: () => Promise<readonly LeasedCall[]>): Promise<Claimed> => {
  if (body.max === 0) return { commands: [] };
  try {
    return { commands: await claim() };
  } catch (thrown) {
    const failed = understandError(thrown);
    if (!saysSomething(body) || failed.http < 500) throw failed;
    return { commands: [], failed };
  }
};

const answersOf = ({ answers: { parts, ...listed } }: ExchangedItems, body: ExchangeBody) =>
  body.parts.length === 0 ? listed : { ...listed, parts };

export const carryOutExchange = async (
  request: ServiceRequest<ExchangeBody>,
  claim: () => Promise<readonly LeasedCall[]>,
): Promise<Exchanged> => {
  const { engine, body, projectId } = request;
  refuseUnstorable([body.holder ?? null, body.definitions ?? null], "the body");
  const claiming = claimBeside(body, claim);
  const items = await exchangeItems(body, request).catch(async (error: unknown) => {
    const { commands } = await claiming.catch((): Claimed => ({ commands: [] }));
    await giveBackCalls(engine, commands);
    throw error;
  });
  const { commands, failed } = await claiming;
  // A claim that found nothing has checked the project itself.
  if (body.max === 0 && (!saysSomething(body) || items.refused.some(({ code }) => code === "not_found")))
    await refuseUnknownProject(engine, projectId);
  const faults = items.refused.filter(({ http }) => http >= 500);
  return { said: answersOf(items, body), commands, faults: failed === undefined ? faults : [...faults, failed] };
};

/** When a service was killed, calls are handed to it for no longer than this. */
const MAX_NATS_WAIT_MS = 5_000;

/** Work for a service on NATS. */
const claimUnwatched = async (request: ServiceRequest<ExchangeBody>): Promise<readonly LeasedCall[]> => {
  const { engine, caller, projectId, headers, body, signal = new AbortController().signal } = request;
  const [target = ""] = caller.targets ?? [];
  checkTarget(caller, target, projectId, headers);
  const { max, definitions, holder = `tool.${target} (nats)` } = body;
  const waitMs = Math.min(exchangeWaitMs(body), MAX_NATS_WAIT_MS);
  const asked = { engine, projectId, target, holder, door: `tool.${target} (nats)`, max, waitMs, definitions, signal };
  return claimCalls({ ...asked, unwatched: true });
};

/** As it is asked over NATS. */
export const exchange = operation({
  maxBytes: MAX_RESULT_BYTES,
  // Each item is judged for itself.
  anyText: true,
  parts: itemParts,
  body: natsExchangeBody,
  answers: { 200: exchangedBody },
  async run(request) {
    const { said, commands, faults } = await carryOutExchange(request, () => claimUnwatched(request));
    return { status: 200, body: { ...said, commands: [] }, faults, commands };
  },
});
