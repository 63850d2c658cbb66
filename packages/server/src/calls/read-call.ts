// One call with everything a person asks about it: its arguments, its result, every lease it had, a person's decision about it, and, for
// operators, the cause of its failure. The call card and the result card are read together.

import { type CallKey, type Engine, isSettled, type Role } from "@toolplane/engine";
import { tryParseViews, VIEWS_KEY } from "@toolplane/protocol";
import type { BodyOf } from "../http/answers.ts";
import { OPERATORS } from "../http/route.ts";
import { callDetail, type callDetailBody, decisionBody, leasesBody } from "./call-body.ts";
import { parametersOf, planShownArguments } from "./shown-arguments.ts";

export interface CallReading {
  readonly role: Role;
  /** How long to wait for the end of the call. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
}

export const readCall = async (
  engine: Pick<Engine, "calls" | "cards" | "definitions" | "approvals">,
  key: CallKey,
  { role, waitMs, signal }: CallReading,
): Promise<BodyOf<typeof callDetailBody>> => {
  let view = await engine.calls.get(key);
  if (!isSettled(view.status) && waitMs > 0) {
    await engine.calls.wait(key, waitMs, signal);
    view = await engine.calls.get(key);
  }
  const ids = [view.callCardId, ...(view.resultCardId === null ? [] : [view.resultCardId])];
  const cards = new Map((await engine.cards.getCards(key.projectId, ids)).map((card) => [card.card_id, card]));
  const call = cards.get(view.callCardId);
  const shown = call && planShownArguments(call, await parametersOf(engine, view), role === "agent");
  const detail = callDetail(view, cards.get(view.resultCardId ?? ""));
  const views = tryParseViews(cards.get(view.resultCardId ?? "")?.metadata[VIEWS_KEY]);
  const leases = leasesBody(await engine.calls.leases(view));
  // A call that succeeded has diagnostics too when it was tried more than once.
  const mayRead = isSettled(view.status) && OPERATORS.includes(role);
  const diagnostics = mayRead ? await engine.calls.diagnostics(key) : undefined;
  // Only people are told who decided. An agent reads the reason of a refusal in the result of its call.
  const decision = view.approvalHash === null || role === "agent" ? undefined : await engine.approvals.find(key);
  return {
    ...detail,
    leases,
    ...(decision === undefined ? {} : { approval: decisionBody(decision) }),
    ...(views === undefined ? {} : { views }),
    ...(shown === undefined ? {} : { arguments: shown.arguments, argument_layers: shown.layers }),
    ...(diagnostics === undefined ? {} : { diagnostics }),
  };
};
