// Good commands that point to cards which cannot be run.

import type { JsonObject } from "@toolplane/protocol";
import type { ClauseId } from "../clauses.ts";
import type { CallSpec } from "../planned-call.ts";
import { callEach } from "./bad-commands.ts";
import type { Scenario } from "./scenario.ts";

export const NO_CARD = "missing card";
export const WRONG_TYPE = "card of another type";
export const WRONG_CALL = "card of another call";
export const WRONG_CONTENT = "content that is not a call";

type ChangeCard = NonNullable<CallSpec["changeCard"]>;

const withContent =
  (change: (content: JsonObject) => JsonObject): ChangeCard =>
  (card) => ({ ...card, content: change(card.content as JsonObject) });

const scenarioOf = (
  name: string,
  clause: ClauseId,
  cards: readonly (readonly [label: string, changeCard: ChangeCard])[],
): Scenario => ({
  name,
  clauses: [clause],
  run: (session) =>
    callEach(
      session,
      cards.map(([label, changeCard]) => ({ scenario: name, label, changeCard, rules: { lineage: false } })),
    ),
});

export const badCardScenarios: readonly Scenario[] = [
  scenarioOf(NO_CARD, "UTP-C14", [["a card that is not there", () => undefined]]),
  scenarioOf(WRONG_TYPE, "UTP-C15", [
    ["a card of type task.instruction", (card) => ({ ...card, type: "task.instruction" })],
  ]),
  scenarioOf(WRONG_CALL, "UTP-C16", [
    [
      "a card of another call",
      (card, { otherCallId }) => ({
        ...card,
        tool_call_id: otherCallId,
        metadata: { ...(card.metadata as JsonObject), tool_call_id: otherCallId },
      }),
    ],
  ]),
  scenarioOf(WRONG_CONTENT, "UTP-C17", [
    ["text as content", withContent(() => ({ __type__: "TextContent", text: "run it" }))],
    ["arguments that are a text", withContent((content) => ({ ...content, arguments: "text=hello" }))],
    ["arguments that are a list", withContent((content) => ({ ...content, arguments: ["hello"] }))],
  ]),
];
