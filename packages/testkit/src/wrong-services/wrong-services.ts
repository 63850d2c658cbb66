// The collection: one service per way to break a clause; everything else about it is right. `clause` is the only one it may fail.

import { definitionOf, type Habits, isRecord, type Json, RIGHT_HABITS, without } from "./habits.ts";
import { INLINE_FAULT, NO_CARD_FAULT } from "./judge-command.ts";

export interface NamedService {
  readonly name: string;
  readonly habits: Habits;
}

export interface WrongService extends NamedService {
  readonly clause: string;
}

const one = (changes: Partial<Habits>): Habits => ({ ...RIGHT_HABITS, ...changes });
const two = (changes: Partial<Habits> = {}): Habits => ({ ...RIGHT_HABITS, steps: "two", ...changes });

const wrong = (clause: string, name: string, habits: Habits): WrongService => ({ clause, name, habits });

const numberedRun: Habits["run"] = (args, runs) => ({ text: args.text, run: runs });

const metadataOf = (card: Json): Json => (isRecord(card.metadata) ? card.metadata : {});
const contentOf = (card: Json): Json => (isRecord(card.content) ? card.content : {});

const override = { __cg_control: { after_execution: "terminate" } };

export const RIGHT_SERVICES: readonly NamedService[] = [
  { name: "one step", habits: RIGHT_HABITS },
  { name: "two steps", habits: two() },
  { name: "one call at a time", habits: one({ claimSize: 1 }) },
  { name: "overrides after_execution in its place", habits: two({ run: ({ text }) => ({ text, ...override }) }) },
];

const connection: readonly WrongService[] = [
  wrong("UTP-C01", "sends its token as an API key", one({ authorization: (token) => ({ "x-api-key": token }) })),
  wrong(
    "UTP-C02",
    "writes the agent's state",
    one({ extraWrites: () => [{ path: "/state/agents", body: { agent_id: "conform", status: "idle" } }] }),
  ),
  wrong(
    "UTP-C03",
    "registers for a system subject",
    one({
      definitions: (target) => [
        definitionOf(target),
        definitionOf(target, {
          tool_name: "stop_agent",
          target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.sys.pmo.stop",
        }),
      ],
    }),
  ),
  wrong(
    "UTP-C03",
    "registers an after_execution of its own",
    one({
      definitions: (target) => [
        definitionOf(target),
        definitionOf(target, { tool_name: "count_on", after_execution: "continue" }),
      ],
    }),
  ),
  wrong("UTP-C04", "starts only the first of what it claims", one({ start: (commands) => commands.slice(0, 1) })),
  wrong("UTP-C04", "claims nothing at a time", one({ claimSize: 0 })),
  wrong("UTP-C05", "ends when a claim fails", one({ afterBadClaim: () => "die" })),
];

const commands: readonly WrongService[] = [
  wrong("UTP-C06", "runs with arguments of its own", one({ run: () => ({ words: 2 }) })),
  wrong("UTP-C07", "does not look for inline data", one({ checks: without("no inline data") })),
  wrong(
    "UTP-C07",
    "gives inline data back instead of refusing it",
    one({ onFault: (fault) => (fault === INLINE_FAULT ? "give back" : "refuse") }),
  ),
  wrong("UTP-C08", "does not look for identity in the payload", one({ checks: without("no identity") })),
  wrong(
    "UTP-C09",
    "believes the payload's tool_call_id",
    one({
      addressOf: ({ payload }, callId) =>
        isRecord(payload) && typeof payload.tool_call_id === "string" ? payload.tool_call_id : callId,
    }),
  ),
  wrong(
    "UTP-C09",
    "reports without CG-Tool-Call-Id",
    two({ shapeHeaders: ({ "CG-Tool-Call-Id": _none, ...headers }) => headers }),
  ),
  wrong("UTP-C10", "refuses to nobody", one({ onNameless: () => "refuse" })),
  wrong("UTP-C10", "ends without a CG-Tool-Call-Id", one({ onNameless: () => "die" })),
  wrong("UTP-C10", "takes the call id from the card and runs it", one({ onNameless: () => "run" })),
  wrong("UTP-C11", "needs no tool_call_card_id", one({ checks: without("card is named") })),
  wrong(
    "UTP-C12",
    "refuses fields it does not know",
    one({ fault: (payload) => (isRecord(payload) && "x_vendor" in payload ? "unknown field x_vendor" : undefined) }),
  ),
  wrong(
    "UTP-C13",
    "trips over a payload that is null",
    one({ addressOf: ({ payload }, callId) => ((payload as Json).tool_name === "" ? "" : callId) }),
  ),
  wrong("UTP-C13", "runs whatever the payload is", one({ checks: without("payload is an object") })),
];

const cards: readonly WrongService[] = [
  wrong("UTP-C14", "runs without a card", one({ checks: without("card is there") })),
  wrong(
    "UTP-C14",
    "says nothing about a missing card",
    one({ onFault: (fault) => (fault === NO_CARD_FAULT ? "drop" : "refuse") }),
  ),
  wrong("UTP-C15", "does not look at the card's type", one({ checks: without("card is a tool.call") })),
  wrong("UTP-C16", "does not look whose card it is", one({ checks: without("card is this call's") })),
  wrong("UTP-C17", "takes any content", one({ checks: without("content is a call") })),
];

const results: readonly WrongService[] = [
  wrong(
    "UTP-C18",
    "always says suspend (one step)",
    one({ shapeBody: (body) => ({ ...body, after_execution: "suspend" }) }),
  ),
  wrong(
    "UTP-C18",
    "always says suspend in the callback",
    two({ shapeCallback: (callback) => ({ ...callback, after_execution: "suspend" }) }),
  ),
  wrong(
    "UTP-C18",
    "always says suspend in the card",
    two({ shapeCard: (card) => ({ ...card, content: { ...contentOf(card), after_execution: "suspend" } }) }),
  ),
  wrong("UTP-C19", "puts the override beside the result", one({ shapeBody: (body) => ({ ...body, ...override }) })),
  wrong(
    "UTP-C19",
    "puts the override into the callback",
    two({ shapeCallback: (callback) => ({ ...callback, ...override }) }),
  ),
  wrong(
    "UTP-C19",
    "overrides with a word of its own",
    one({ run: ({ text }) => ({ text, __cg_control: { after_execution: "finish" } }) }),
  ),
  wrong(
    "UTP-C20",
    "has a status of its own",
    one({ shapeOutcome: (outcome) => (outcome.status === "success" ? { ...outcome, status: "ok" } : outcome) }),
  ),
  wrong(
    "UTP-C21",
    "fails without an error",
    one({ shapeOutcome: ({ status, result }) => (status === "failed" ? { status } : { status, result }) }),
  ),
  wrong(
    "UTP-C22",
    "passes the command's span on",
    one({ shapeHeaders: (headers, command) => ({ ...headers, traceparent: command.headers.traceparent ?? "" }) }),
  ),
  wrong("UTP-C22", "sends no traceparent", two({ shapeHeaders: ({ traceparent: _none, ...headers }) => headers })),
  wrong(
    "UTP-C22",
    "begins a trace of its own",
    one({ shapeHeaders: (headers) => ({ ...headers, traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` }) }),
  ),
  wrong("UTP-C23", "names no lease", one({ shapeBody: ({ lease: _none, ...body }) => body })),
  wrong("UTP-C23", "reports without a lease", two({ shapeHeaders: ({ "CG-Lease": _none, ...headers }) => headers })),
  wrong(
    "UTP-C23",
    "reports under an empty lease",
    two({ shapeHeaders: (headers) => ({ ...headers, "CG-Lease": "" }) }),
  ),
];

const twoSteps: readonly WrongService[] = [
  wrong("UTP-C24", "reports before it writes", two({ cardBeforeReport: false })),
  wrong(
    "UTP-C25",
    "writes its result as JsonContent",
    two({ shapeCard: (card) => ({ ...card, content: { ...contentOf(card), __type__: "JsonContent" } }) }),
  ),
  wrong(
    "UTP-C26",
    "takes lineage from the headers",
    two({
      shapeCard: (card, { headers }) => ({
        ...card,
        metadata: { ...metadataOf(card), step_id: headers["CG-Step-Id"] },
      }),
    }),
  ),
  wrong(
    "UTP-C26",
    "drops the lineage",
    two({
      shapeCard: (card) => {
        const { trace_id: _none, ...metadata } = metadataOf(card);
        return { ...card, metadata };
      },
    }),
  ),
  wrong(
    "UTP-C27",
    "signs with a name of its own",
    two({ shapeCard: (card) => ({ ...card, author_id: "my_service" }) }),
  ),
  wrong(
    "UTP-C28",
    "names itself instead of the tool",
    two({ shapeCard: (card) => ({ ...card, metadata: { ...metadataOf(card), function_name: "my_service" } }) }),
  ),
  wrong(
    "UTP-C29",
    "repeats the result in the callback",
    two({ shapeCallback: (callback, { result }) => ({ ...callback, result: result ?? null }) }),
  ),
  wrong(
    "UTP-C29",
    "repeats the turn in the callback",
    two({ shapeCallback: (callback) => ({ ...callback, agent_turn_id: "turn_1" }) }),
  ),
];

const repeats: readonly WrongService[] = [
  wrong("UTP-C30", "forgets what it has done", one({ remembers: { running: true, ended: false }, run: numberedRun })),
  wrong(
    "UTP-C31",
    "notices a repeat only when the first is done",
    one({ remembers: { running: false, ended: true }, run: numberedRun }),
  ),
  wrong(
    "UTP-C32",
    "sends a late result for ever",
    one({ afterAnswer: (status) => (status >= 400 ? "again" : "done") }),
  ),
  wrong(
    "UTP-C32",
    "ends when a result is refused",
    one({ afterAnswer: (status) => (status === 409 ? "die" : RIGHT_HABITS.afterAnswer(status)) }),
  ),
  wrong("UTP-C33", "renews a lost lease for ever", one({ heeds: { cancel: true, loss: false } })),
  wrong("UTP-C34", "works on when the call is canceled", one({ heeds: { cancel: false, loss: true } })),
  wrong("UTP-C35", "gives a result up at the first error", one({ afterAnswer: () => "done" })),
];

const saying: readonly WrongService[] = [
  wrong("UTP-C45", "needs no after_execution and no tool_name", one({ checks: without("payload is complete") })),
  wrong("UTP-C46", "does not look at epoch, depth and trace", one({ checks: without("headers can be read") })),
  wrong(
    "UTP-C47",
    "reports for an agent of its own",
    two({ shapeHeaders: (headers) => ({ ...headers, "CG-Agent-Id": "my_service" }) }),
  ),
  wrong(
    "UTP-C47",
    "settles at a depth of its own",
    one({ shapeHeaders: (headers) => ({ ...headers, "CG-Recursion-Depth": "7" }) }),
  ),
  wrong(
    "UTP-C47",
    "settles in an epoch that is not a number",
    one({ shapeHeaders: (headers) => ({ ...headers, "CG-Turn-Epoch": "now" }) }),
  ),
  wrong(
    "UTP-C47",
    "reports for another project",
    two({ shapeHeaders: (headers) => ({ ...headers, "CG-Project-Id": "elsewhere" }) }),
  ),
  wrong("UTP-C48", "reports its own card although there is one", two({ reusesStanding: false })),
  wrong(
    "UTP-C49",
    "reports everything in the channel public",
    two({ shapeHeaders: (headers) => ({ ...headers, "CG-Channel-Id": "public" }) }),
  ),
];

export const WRONG_SERVICES: readonly WrongService[] = [
  ...connection,
  ...commands,
  ...cards,
  ...results,
  ...twoSteps,
  ...repeats,
  ...saying,
];
