// The refusals of the scripted plane: in the words of the real one, or as a proxy in between would send them.

import { ToolplaneError } from "@toolplane/protocol";
import type { LeaseAnswer, Refusal } from "../planned-call.ts";

const SENTENCES = {
  already_settled: "the call has settled; the first valid result counts",
  lease_lost: "the lease on this call is gone; another service runs it now",
  storage_error: "the store is away for a moment; try again",
} as const;

export const problemResponse = (error: ToolplaneError): Response =>
  Response.json({ error: error.toWire() }, { status: error.http });

export const proxyPage = (): Response =>
  new Response("<html><body><h1>Internal Server Error</h1></body></html>\n", {
    status: 500,
    headers: { "content-type": "text/html" },
  });

export const refuse = (refusal: Refusal): Response =>
  refusal === "proxy_page" ? proxyPage() : problemResponse(new ToolplaneError(refusal, SENTENCES[refusal]));

/** A service that waits at the gateway fetches commands after this answer. */
export const noWorkHere = (): Response =>
  problemResponse(
    new ToolplaneError(
      "bad_request",
      "this plane hands out no calls by exchange: fetch commands from the target's durable",
    ),
  );

/** Another process of the service wrote its card first: that card must be reported. */
export const refuseStanding = (cardId: string, status: unknown): Response =>
  problemResponse(
    new ToolplaneError("conflict", `the call has a result card already: report card ${cardId} instead of another one`, {
      detail: { tool_result_card_id: cardId, status: String(status) },
    }),
  );

/** The call's status as the real plane would tell it. */
const HELD_BY: Readonly<Record<Exclude<LeaseAnswer, "granted">, string>> = {
  later: "queued",
  held: "running",
  over: "success",
};

export const refuseLease = (answer: Exclude<LeaseAnswer, "granted">): Response =>
  problemResponse(
    new ToolplaneError("lease_lost", `the call cannot be leased now: it is ${HELD_BY[answer]}`, {
      detail: { status: HELD_BY[answer] },
    }),
  );

export const noSuch = (what: string): Response =>
  problemResponse(new ToolplaneError("not_found", `there is no ${what}`));
