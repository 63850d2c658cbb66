// The exchange: what a service has to say and what it asks for, in one request, at both doors.
//   - What is said is answered as soon as it is dealt with. Only an exchange that says nothing waits for work: no result waits
//     behind a long poll.
//   - Over NATS commands come from the target's durable and are leased one by one under a ticket, because an answer that is lost
//     there would take the leases in it with it. An exchange over NATS therefore asks for no work.

import type { LeasedCall } from "@toolplane/engine";
import { isToolplaneError, refuseUnstorable, ToolplaneError, understandError } from "@toolplane/protocol";
import { z } from "zod";
import { refuseUnknownProject } from "../http/known-project.ts";
import { claimFields, giveBackCalls, MAX_CLAIM, waitSeconds } from "./claim-calls.ts";
import { type ExchangedItems, exchangeItems, ITEM_KINDS, itemLists } from "./exchange-items.ts";
import { MAX_RESULT_BYTES } from "./result-operations.ts";
import { operation, type ServiceRequest } from "./service-request.ts";

const exchangeBody = z.strictObject({
  ...itemLists,
  ...claimFields,
  max: z.number().int().min(0).max(MAX_CLAIM).default(0),
  wait_seconds: waitSeconds.default(0),
});

export type ExchangeBody = z.infer<typeof exchangeBody>;

export interface Exchanged {
  /** The answers to what was said. */
  readonly said: Readonly<Record<string, unknown>>;
  readonly commands: readonly LeasedCall[];
  /** What went wrong on our side, for the log. */
  readonly faults: readonly ToolplaneError[];
}

const saysSomething = (body: ExchangeBody): boolean => ITEM_KINDS.some((kind) => body[kind].length > 0);

/** How long the claim of an exchange waits: not at all beside items, which are to be answered. */
export const exchangeWaitMs = (body: ExchangeBody): number => (saysSomething(body) ? 0 : body.wait_seconds * 1_000);

const asError = (thrown: unknown): ToolplaneError => (isToolplaneError(thrown) ? thrown : understandError(thrown));

type Claimed = { readonly commands: readonly LeasedCall[]; readonly failed?: ToolplaneError };

/** The answers of items are not lost over a claim that failed; without items its failure is the answer. */
const claimBeside = async (body: ExchangeBody, claim: () => Promise<readonly LeasedCall[]>): Promise<Claimed> => {
  if (body.max === 0) return { commands: [] };
  try {
    return { commands: await claim() };
  } catch (thrown) {
    const failed = asError(thrown);
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
  // A claim that found nothing has asked for the project itself.
  if (body.max === 0 && (!saysSomething(body) || items.refused.some(({ code }) => code === "not_found")))
    await refuseUnknownProject(engine, projectId);
  const faults = items.refused.filter(({ http }) => http >= 500);
  return { said: answersOf(items, body), commands, faults: failed === undefined ? faults : [...faults, failed] };
};

/** As it is asked over NATS. */
export const exchange = operation({
  maxBytes: MAX_RESULT_BYTES,
  // Each item is judged for itself.
  anyText: true,
  body: exchangeBody,
  async run(request) {
    const { max, wait_seconds } = request.body;
    if (max > 0 || wait_seconds > 0)
      throw new ToolplaneError(
        "bad_request",
        "an exchange over NATS brings no commands: fetch them from the target's durable and ask for each with lease; leave max and wait_seconds out",
      );
    const { said, commands, faults } = await carryOutExchange(request, async () => []);
    return { status: 200, body: { ...said, commands }, faults };
  },
});
