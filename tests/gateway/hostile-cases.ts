// Requests no gateway should trust, and what each is refused with.

import { type ErrorCode, GATEWAY_OPERATIONS, HEADERS } from "@toolplane/protocol";
import { toolUpload } from "@toolplane/testkit";
import { type AimedCall, type AskedAs, ELSEWHERE, type GatewayStack, gatewayAt, resultCard } from "./gateway-stack.ts";

/** Calls to aim at. */
export interface Aims {
  readonly queued: AimedCall;
  /** By somebody else. */
  readonly held: AimedCall;
  readonly settled: AimedCall;
  /** Another service's. */
  readonly others: AimedCall;
  /** Another project's. */
  readonly far: AimedCall;
}

/** Never dispatched. */
const none: AimedCall = {
  toolCallId: "no-such-call",
  turnId: "no-turn",
  cardId: "no-card",
  lease: "no-lease",
  lineage: {},
};

export const aimCalls = async (stack: GatewayStack): Promise<Aims> => {
  const { projectId, engine } = stack.http.t;
  const settled = await stack.takeCall("safe");
  const given = { status: "success", result: { ok: true } };
  const { toolCallId, lease: leaseId } = settled;
  await engine.calls.settle({ projectId, toolCallId, leaseId, actorId: "tool.text", outcome: { given } });
  return {
    settled,
    held: await stack.takeCall("safe"),
    others: await stack.takeCall("foreign"),
    queued: await stack.makeCall("safe"),
    far: await stack.makeCall("far", ELSEWHERE),
  };
};

export type Case = readonly [what: string, operation: string, body: unknown, code: ErrorCode, as?: AskedAs];

const deep = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
/** The command's payload as the plane publishes it. */
const pointer = ({ cardId }: AimedCall, more: object = {}): Record<string, unknown> => ({
  tool_call_card_id: cardId,
  tool_name: "safe",
  after_execution: "suspend",
  ...more,
});
const card = (call: AimedCall, more: object = {}): Record<string, unknown> => ({ ...resultCard(call).card, ...more });

const shapes = ({ held }: Aims): readonly Case[] => [
  ["no JSON", "settle", "{not", "bad_request", { call: held }],
  ["a list", "settle", "[]", "bad_request", { call: held }],
  // A list is a form in which definitions may be registered, so `register` has its own cases.
  ...GATEWAY_OPERATIONS.filter((operation) => operation !== "register").map(
    (operation): Case => ["[1]", operation, "[1]", "bad_request", { call: held }],
  ),
  ["a string", "settle", '"success"', "bad_request", { call: held }],
  ["a number", "heartbeat", "42", "bad_request", { call: held }],
  ["null", "release", "null", "bad_request", { call: held }],
  ["nothing", "heartbeat", "", "bad_request", { call: held }],
  ["an empty object", "get_tool", {}, "bad_request"],
  ["a NUL byte", "heartbeat", Buffer.from([0]), "bad_request", { call: held }],
  ["no UTF-8", "heartbeat", Buffer.from([0x22, 0xff, 0xfe, 0x22]), "bad_request", { call: held }],
  ["a bare control character", "heartbeat", `{"lease":"a\u0001"}`, "bad_request", { call: held }],
  ["an escaped NUL", "heartbeat", String.raw`{"lease":"a\u0000"}`, "bad_request", { call: held }],
  [
    "an escaped NUL in a holder",
    "lease",
    String.raw`{"tool_call_card_id":"c","x":"\u0000"}`,
    "bad_request",
    { call: held },
  ],
  ["half a pair", "register", String.raw`{"tool_name":"a","description":"\ud800"}`, "bad_request"],
  ["a name given twice", "get_tool", '{"tool_name":"nothing","tool_name":"safe"}', "bad_request"],
  ["an escaped NUL in a name", "get_tool", String.raw`{"tool_name":"a\u0000"}`, "bad_request"],
  ["half a surrogate pair", "heartbeat", String.raw`{"lease":"\ud800"}`, "bad_request", { call: held }],
  ["a lease that is none", "heartbeat", { lease: 7 }, "bad_request", { call: held }],
  ["an endless lease", "heartbeat", { lease: "x".repeat(200) }, "bad_request", { call: held }],
  ["an unknown key", "settle", { status: "success", result: {}, extra: 1 }, "bad_request", { call: held }],
  ["a number out of range", "parts", '{"parts":[{"index":0,"part":1e999}]}', "bad_request", { call: held }],
  ["deep nesting", "settle", `{"status":"success","result":${deep(100)}}`, "lease_lost", { call: held }],
  ["bottomless nesting", "settle", deep(500_000), "payload_too_large", { call: held }],
  ["__proto__", "get_tool", '{"__proto__":{"tool_name":"safe"}}', "bad_request"],
  ["an escaped __proto__", "get_tool", String.raw`{"\u005f_proto__":{"tool_name":"safe"}}`, "bad_request"],
  ["a negative index", "parts", { parts: [{ index: -1, part: 1 }] }, "bad_request", { call: held }],
  ["too many parts", "parts", { parts: Array(1_001).fill({ index: 0, part: 1 }) }, "bad_request", { call: held }],
  ["three megabytes", "heartbeat", { lease: "x".repeat(3 * 1024 * 1024) }, "payload_too_large", { call: held }],
  ["a book as a definition", "register", { description: "x".repeat(2 * 1024 * 1024) }, "payload_too_large"],
];

const subjects = ({ held }: Aims): readonly Case[] => {
  const at = (subject: string): AskedAs => ({ subject, call: held });
  return [
    ["an unknown operation", "claim", {}, "not_found", { call: held }],
    ["an operation of several words", "settle.now", {}, "not_found", { call: held }],
    ["an operation in capitals", "SETTLE", {}, "not_found", { call: held }],
    ["a property of every object", "constructor", {}, "not_found", { call: held }],
    ["a wildcard channel", "settle", {}, "protocol_violation", at("cg.v1r4.demo.*.rpc.gateway.text.settle")],
    ["a wildcard operation", "settle", {}, "protocol_violation", at("cg.v1r4.demo.public.rpc.gateway.text.*")],
    ["an open end", "settle", {}, "protocol_violation", at("cg.v1r4.demo.public.rpc.gateway.text.>")],
    [
      "a channel with odd characters",
      "settle",
      {},
      "protocol_violation",
      at("cg.v1r4.demo.a%b.rpc.gateway.text.settle"),
    ],
    ["a subject without end", "settle", {}, "protocol_violation", at(gatewayAt(`settle.${"x".repeat(1_500)}`))],
  ];
};

const withHeaders = (headers: AskedAs["headers"]): AskedAs => ({ headers });
const headers = ({ held, queued }: Aims): readonly Case[] => {
  const lease = { lease: held.lease };
  const id = { [HEADERS.toolCallId]: held.toolCallId };
  return [
    ["no call id", "heartbeat", lease, "protocol_violation", withHeaders({})],
    ["a blank call id", "heartbeat", lease, "protocol_violation", withHeaders({ [HEADERS.toolCallId]: " " })],
    [
      "a call id in another case",
      "heartbeat",
      lease,
      "protocol_violation",
      withHeaders({ "cg-tool-call-id": held.toolCallId }),
    ],
    [
      "another project",
      "heartbeat",
      lease,
      "protocol_violation",
      withHeaders({ ...id, [HEADERS.projectId]: ELSEWHERE }),
    ],
    [
      "another channel",
      "heartbeat",
      lease,
      "protocol_violation",
      withHeaders({ ...id, [HEADERS.channelId]: "private" }),
    ],
    [
      "two call ids",
      "heartbeat",
      lease,
      "bad_request",
      withHeaders(`CG-Tool-Call-Id: ${held.toolCallId}\r\nCG-Tool-Call-Id: x\r\n`),
    ],
    ["letters beyond ASCII", "heartbeat", lease, "bad_request", withHeaders("CG-Tool-Call-Id: caf\u00e9\r\n")],
    ["a control character", "heartbeat", lease, "bad_request", withHeaders("CG-Tool-Call-Id: a\u0001b\r\n")],
    [
      "a header without end",
      "heartbeat",
      lease,
      "bad_request",
      withHeaders(`CG-Tool-Call-Id: ${"x".repeat(9_000)}\r\n`),
    ],
    [
      "a lease without a turn",
      "lease",
      pointer(queued),
      "protocol_violation",
      withHeaders({ [HEADERS.toolCallId]: queued.toolCallId }),
    ],
    ["a report without a turn", "report", {}, "protocol_violation", withHeaders(id)],
  ];
};

const perCall = (what: string, call: AimedCall, code: ErrorCode): readonly Case[] => [
  [what, "lease", pointer(call), code, { call }],
  [what, "get_card", {}, code, { call }],
  [what, "get_card", { card_id: call.cardId }, code, { call }],
  [what, "heartbeat", { lease: call.lease || "x" }, code, { call }],
  [what, "release", { lease: call.lease || "x" }, code, { call }],
  [what, "settle", { lease: call.lease || "x", status: "success", result: {} }, code, { call }],
  [what, "settle", { status: "success", result: {} }, code, { call }],
  [what, "put_card", card(call), code, { call }],
  [what, "report", { status: "success", after_execution: "suspend", tool_result_card_id: "c" }, code, { call }],
  [what, "parts", { parts: [{ index: 0, part: "x" }] }, code, { call }],
];

const fences = ({ held, queued, settled, others, far }: Aims): readonly Case[] => [
  ["a wrong lease", "heartbeat", { lease: "guess" }, "lease_lost", { call: held }],
  ["a wrong lease", "release", { lease: "guess" }, "lease_lost", { call: held }],
  ["a wrong lease", "parts", { lease: "guess", parts: [{ index: 0, part: "x" }] }, "lease_lost", { call: held }],
  ["no lease", "parts", { parts: [{ index: 0, part: "x" }] }, "lease_lost", { call: held }],
  ["no lease", "parts", { parts: [{ index: 0, part: "x" }] }, "lease_lost", { call: queued }],
  ["a wrong lease", "settle", { lease: "guess", status: "success", result: {} }, "lease_lost", { call: held }],
  ["no lease", "settle", { status: "success", result: {} }, "lease_lost", { call: held }],
  ["another's lease", "heartbeat", { lease: others.lease }, "lease_lost", { call: held }],
  ["a call somebody holds", "lease", pointer(held), "lease_lost", { call: held }],
  ["a call that is over", "lease", pointer(settled), "lease_lost", { call: settled }],
  [
    "another result",
    "settle",
    { lease: settled.lease, status: "failed", result: {} },
    "already_settled",
    { call: settled },
  ],
  ...["tool_call_card_id", "tool_name", "after_execution"].flatMap((field): readonly Case[] =>
    [undefined, null, " "].map((value) => [
      `${field} as ${value}`,
      "lease",
      pointer(queued, { [field]: value }),
      "protocol_violation",
      { call: queued },
    ]),
  ),
  ["the card alone", "lease", { tool_call_card_id: queued.cardId }, "protocol_violation", { call: queued }],
  ["another's card", "lease", pointer(held), "protocol_violation", { call: queued }],
  ["another turn", "lease", pointer(queued), "protocol_violation", { call: { ...queued, turnId: held.turnId } }],
  ["identity in the body", "lease", pointer(queued, { agent_id: "boss" }), "protocol_violation", { call: queued }],
  ...["args", "arguments", "result"].map(
    (field): Case => [
      `${field} of the command`,
      "lease",
      pointer(queued, { [field]: {} }),
      "protocol_violation",
      { call: queued },
    ],
  ),
  ["another tool", "lease", pointer(queued, { tool_name: "foreign" }), "protocol_violation", { call: queued }],
  [
    "a strange after_execution",
    "lease",
    pointer(queued, { after_execution: "continue" }),
    "bad_request",
    { call: queued },
  ],
  [
    "a holder with control characters",
    "lease",
    pointer(queued, { holder: "a\u001b[2J" }),
    "bad_request",
    { call: queued },
  ],
  ["a card of another project", "get_card", { card_id: far.cardId }, "not_found", { call: held }],
  ["a card of another call", "get_card", { card_id: queued.cardId }, "not_found", { call: held }],
  ["a card for another call", "put_card", card(queued), "protocol_violation", { call: held }],
  [
    "a card of another project",
    "put_card",
    card(held, { project_id: ELSEWHERE }),
    "protocol_violation",
    { call: held },
  ],
  [
    "a card of another author",
    "put_card",
    card(held, { author_id: "tool.other" }),
    "protocol_violation",
    { call: held },
  ],
  [
    "a card of another type",
    "put_card",
    card(held, { type: "task.instruction" }),
    "protocol_violation",
    { call: held },
  ],
  [
    "a report with its result inside",
    "report",
    { status: "success", after_execution: "suspend", tool_result_card_id: "c", result: {} },
    "protocol_violation",
    { call: held },
  ],
  [
    "a report of no card",
    "report",
    { status: "success", after_execution: "suspend", tool_result_card_id: "c" },
    "protocol_violation",
    { call: held },
  ],
  [
    "a report of a card with a NUL",
    "report",
    { status: "success", after_execution: "suspend", tool_result_card_id: "\u0000" },
    "bad_request",
    { call: held },
  ],
];

const definitions = (): readonly Case[] => [
  ["a tool that is not there", "get_tool", { tool_name: "nothing" }, "not_found"],
  ["a tool of another project", "get_tool", { tool_name: "far" }, "not_found"],
  ["another's target", "register", toolUpload({ name: "mine", target: "other" }), "auth_failed"],
  [
    "the project manager's target",
    "register",
    { ...toolUpload({ name: "mine", target: "text" }), target_subject: "cg.v1r4.demo.public.cmd.sys.pmo.internal.x" },
    "auth_failed",
  ],
  [
    "another project's subject",
    "register",
    { ...toolUpload({ name: "mine", target: "text" }), target_subject: `cg.v1r4.${ELSEWHERE}.public.cmd.tool.text.x` },
    "bad_request",
  ],
  ["no definition", "register", [], "auth_failed"],
  ["another's tool", "register", toolUpload({ name: "foreign", target: "text" }), "conflict"],
];

export const hostileCases = (aims: Aims): readonly Case[] => [
  ...shapes(aims),
  ...subjects(aims),
  ...headers(aims),
  ...perCall("another service's call", aims.others, "auth_failed"),
  ...perCall("another project's call", aims.far, "not_found"),
  ...perCall("no call", none, "not_found"),
  ...fences(aims),
  ...definitions(),
];
