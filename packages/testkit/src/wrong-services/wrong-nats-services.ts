// The collection over NATS: one service per way to break a clause there; everything else about it is right. Faults that do not
// depend on the transport are in wrong-services.ts; some are repeated here, to check that they are also seen over NATS.

import {
  definitionOf,
  type Habits,
  isRecord,
  type Json,
  type NatsHabits,
  RIGHT_HABITS,
  RIGHT_NATS_HABITS,
  without,
} from "./habits.ts";
import type { NamedService, WrongService } from "./wrong-services.ts";

type Changes = Partial<Omit<Habits, "nats">> & { readonly nats?: Partial<NatsHabits> };

const habitsWith = ({ nats, ...changes }: Changes, base: Partial<NatsHabits>): Habits => ({
  ...RIGHT_HABITS,
  ...changes,
  nats: { ...RIGHT_NATS_HABITS, ...base, ...nats },
});

const leased = (changes: Changes = {}): Habits => habitsWith(changes, {});

const plainDefinitions: Habits["definitions"] = (target) => [definitionOf(target, { options: { service: "plain" } })];

const plain = (changes: Changes = {}): Habits =>
  habitsWith({ steps: "two", definitions: plainDefinitions, ...changes }, { mode: "plain" });

const wrong = (clause: string, name: string, habits: Habits): WrongService => ({ clause, name, habits });

const numberedRun: Habits["run"] = (args, runs) => ({ text: args.text, run: runs });
const contentOf = (card: Json): Json => (isRecord(card.content) ? card.content : {});

export const RIGHT_NATS_SERVICES: readonly NamedService[] = [
  { name: "leased, one step", habits: leased() },
  { name: "leased, two steps", habits: leased({ steps: "two" }) },
  { name: "plain", habits: plain() },
];

const transport: readonly WrongService[] = [
  wrong("UTP-C36", "never acknowledges", leased({ nats: { acknowledges: "never" } })),
  wrong("UTP-C37", "acknowledges before it leases", leased({ nats: { acknowledges: "first" } })),
  wrong("UTP-C38", "settles a call that somebody else holds", leased({ nats: { onHeld: "run" } })),
  wrong("UTP-C39", "drops a call that is not due yet", leased({ nats: { onLater: "forget" } })),
  wrong(
    "UTP-C40",
    "settles as another actor",
    leased({ nats: { actor: (target, operation) => (operation === "settle" ? "other" : target) } }),
  ),
  wrong("UTP-C41", "acknowledges commands of other projects", leased({ nats: { onForeign: "take" } })),
  wrong("UTP-C41", "leases calls of other projects", leased({ nats: { onForeign: "lease there" } })),
  wrong(
    "UTP-C42",
    "leases without the turn",
    leased({
      nats: {
        shapeQuestion: ({ "CG-Turn-Id": turn = "", ...headers }, operation) =>
          operation === "lease" || turn === "" ? headers : { ...headers, "CG-Turn-Id": turn },
      },
    }),
  ),
  wrong(
    "UTP-C42",
    "reports with a turn of its own",
    plain({
      nats: {
        shapeQuestion: (headers, operation) =>
          operation === "report" ? { ...headers, "CG-Turn-Id": "turn_1" } : headers,
      },
    }),
  ),
  wrong(
    "UTP-C42",
    "renews without naming the call",
    leased({
      nats: {
        shapeQuestion: ({ "CG-Tool-Call-Id": call = "", ...headers }, operation) =>
          operation === "heartbeat" || call === "" ? headers : { ...headers, "CG-Tool-Call-Id": call },
      },
    }),
  ),
  wrong("UTP-C44", "believes the subject whatever the headers say", leased({ checks: without("headers agree") })),
  wrong("UTP-C43", "never renews a lease", leased({ nats: { renews: false } })),
];

const everywhere: readonly WrongService[] = [
  wrong(
    "UTP-C02",
    "publishes an event of its own",
    leased({ nats: { publishes: (project) => [`cg.v1r4.${project}.public.evt.agent.conform.task`] } }),
  ),
  wrong(
    "UTP-C02",
    "wakes an agent itself",
    plain({ nats: { publishes: (project) => [`cg.v1r4.${project}.public.cmd.agent.worker_generic.wakeup`] } }),
  ),
  wrong("UTP-C05", "ends when its durable is gone", leased({ afterBadClaim: () => "die" })),
  wrong(
    "UTP-C09",
    "believes the payload's tool_call_id",
    leased({
      addressOf: ({ payload }, callId) =>
        isRecord(payload) && typeof payload.tool_call_id === "string" ? payload.tool_call_id : callId,
    }),
  ),
  wrong("UTP-C07", "does not look for inline data", leased({ checks: without("no inline data") })),
  wrong("UTP-C08", "does not look for identity in the payload", plain({ checks: without("no identity") })),
  wrong("UTP-C10", "ends without a CG-Tool-Call-Id", leased({ onNameless: () => "die" })),
  wrong(
    "UTP-C13",
    "ends on a payload that is not an object",
    plain({ addressOf: ({ payload }, callId) => ((payload as Json).tool_name === "" ? "" : callId) }),
  ),
  wrong("UTP-C11", "needs no tool_call_card_id", leased({ checks: without("card is named") })),
  wrong("UTP-C14", "runs without a card", plain({ checks: without("card is there") })),
  wrong("UTP-C15", "does not look at the card's type", leased({ checks: without("card is a tool.call") })),
  wrong("UTP-C16", "does not look whose card it is", plain({ checks: without("card is this call's") })),
  wrong("UTP-C17", "takes any content", leased({ checks: without("content is a call") })),
  wrong("UTP-C18", "always says suspend", leased({ shapeBody: (body) => ({ ...body, after_execution: "suspend" }) })),
  wrong(
    "UTP-C18",
    "always says suspend in the card",
    plain({ shapeCard: (card) => ({ ...card, content: { ...contentOf(card), after_execution: "suspend" } }) }),
  ),
  wrong(
    "UTP-C22",
    "begins a trace of its own",
    plain({ shapeHeaders: (headers) => ({ ...headers, traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` }) }),
  ),
  wrong(
    "UTP-C23",
    "reports under an empty lease",
    leased({ steps: "two", shapeHeaders: (headers) => ({ ...headers, "CG-Lease": "" }) }),
  ),
  wrong("UTP-C23", "settles without its lease", leased({ shapeBody: ({ lease: _none, ...body }) => body })),
  wrong("UTP-C24", "reports before it writes", plain({ cardBeforeReport: false })),
  wrong(
    "UTP-C29",
    "repeats the result in the callback",
    plain({ shapeCallback: (callback, { result }) => ({ ...callback, result: result ?? null }) }),
  ),
  wrong(
    "UTP-C30",
    "runs a command that comes again",
    plain({ remembers: { running: true, ended: false }, run: numberedRun }),
  ),
  wrong(
    "UTP-C31",
    "notices a repeat only when the first is done",
    plain({ remembers: { running: false, ended: true }, run: numberedRun }),
  ),
  wrong(
    "UTP-C32",
    "sends a late result for ever",
    leased({ afterAnswer: (status) => (status >= 400 ? "again" : "done") }),
  ),
  wrong("UTP-C45", "needs no after_execution and no tool_name", leased({ checks: without("payload is complete") })),
  wrong("UTP-C46", "does not look at epoch, depth and trace", plain({ checks: without("headers can be read") })),
  wrong(
    "UTP-C47",
    "settles in an epoch of its own",
    leased({
      nats: {
        shapeQuestion: (headers, operation) =>
          operation === "settle" ? { ...headers, "CG-Turn-Epoch": "0" } : headers,
      },
    }),
  ),
  wrong(
    "UTP-C47",
    "reports for an agent of its own",
    plain({ shapeHeaders: (headers) => ({ ...headers, "CG-Agent-Id": "my_service" }) }),
  ),
  wrong(
    "UTP-C47",
    "renews at a depth of its own",
    leased({
      nats: {
        shapeQuestion: (headers, operation) =>
          operation === "heartbeat" ? { ...headers, "CG-Recursion-Depth": "7" } : headers,
      },
    }),
  ),
  wrong("UTP-C48", "reports its own card although there is one", plain({ reusesStanding: false })),
  wrong(
    "UTP-C49",
    "reports everything in the channel public",
    plain({ shapeHeaders: (headers) => ({ ...headers, "CG-Channel-Id": "public" }) }),
  ),
  wrong("UTP-C34", "works on when the call is canceled", leased({ heeds: { cancel: false, loss: true } })),
];

export const WRONG_NATS_SERVICES: readonly WrongService[] = [...transport, ...everywhere];
