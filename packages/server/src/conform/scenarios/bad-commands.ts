// Commands no plane should send, one thing wrong in each.

import { HEADERS } from "@toolplane/protocol";
import type { CallDraft, Session } from "../session.ts";
import type { Scenario } from "./scenario.ts";

export const INLINE = "inline data";
export const IDENTITY = "identity in the payload";
export const NAMELESS = "no call id";
export const POINTERLESS = "no card id";
export const GARBAGE = "garbage payload";
export const INCOMPLETE = "incomplete payload";
export const UNREADABLE = "headers that cannot be read";
const CLAIM_TROUBLE = "claims that fail";

/** One after the other; whether all of them were answered. */
export const callEach = async (session: Session, drafts: readonly CallDraft[]): Promise<boolean> => {
  let all = true;
  for (const draft of drafts) all = (await session.call(session.make(draft))) && all;
  return all;
};

const inline: Scenario = {
  name: INLINE,
  clauses: ["UTP-C07"],
  run: (session) =>
    callEach(
      session,
      ["args", "arguments", "result"].map((key) => ({
        scenario: INLINE,
        label: `a payload with ${key}`,
        changePayload: (payload) => ({ ...payload, [key]: session.samples.second ?? {} }),
      })),
    ),
};

const identity: Scenario = {
  name: IDENTITY,
  clauses: ["UTP-C08"],
  run: (session) =>
    callEach(session, [
      {
        scenario: IDENTITY,
        label: "a payload with tool_call_id",
        changePayload: (payload, ids) => ({ ...payload, tool_call_id: ids.otherCallId }),
      },
      {
        scenario: IDENTITY,
        label: "a payload with agent_id, agent_turn_id, turn_epoch and step_id",
        changePayload: (payload) => ({
          ...payload,
          agent_id: "somebody",
          agent_turn_id: "turn_of_somebody",
          turn_epoch: 7,
          step_id: "step_of_somebody",
        }),
      },
    ]),
};

const nameless: Scenario = {
  name: NAMELESS,
  clauses: ["UTP-C10"],
  mustLiveOn: true,
  run: (session) =>
    session.give(
      session.make({
        scenario: NAMELESS,
        label: "a command without CG-Tool-Call-Id",
        changeHeaders: ({ [HEADERS.toolCallId]: _callId, ...headers }) => headers,
        rules: { identity: false, lineage: false, lease: false },
      }),
    ),
};

const pointerless: Scenario = {
  name: POINTERLESS,
  clauses: ["UTP-C11"],
  run: (session) =>
    callEach(session, [
      {
        scenario: POINTERLESS,
        label: "a payload without tool_call_card_id",
        changePayload: ({ tool_call_card_id: _pointer, ...payload }) => payload,
        rules: { lineage: false },
      },
    ]),
};

const incomplete: Scenario = {
  name: INCOMPLETE,
  clauses: ["UTP-C45"],
  run: (session) =>
    callEach(session, [
      {
        scenario: INCOMPLETE,
        label: "a payload without after_execution",
        changePayload: ({ after_execution: _word, ...payload }) => payload,
      },
      {
        scenario: INCOMPLETE,
        label: "a payload with another after_execution",
        changePayload: (payload) => ({ ...payload, after_execution: "continue" }),
        rules: { afterExecution: false },
      },
      {
        scenario: INCOMPLETE,
        label: "a payload without tool_name",
        changePayload: ({ tool_name: _name, ...payload }) => payload,
        rules: { toolName: false },
      },
    ]),
};

const unreadable: Scenario = {
  name: UNREADABLE,
  clauses: ["UTP-C46"],
  mustLiveOn: true,
  async run(session) {
    const values = [
      [HEADERS.recursionDepth, "-1"],
      [HEADERS.recursionDepth, "deep"],
      [HEADERS.turnEpoch, "abc"],
      [HEADERS.traceparent, "00-zz"],
    ] as const;
    for (const [name, value] of values) {
      const record = session.make({
        scenario: UNREADABLE,
        label: `a command whose ${name} is ${value}`,
        changeHeaders: (headers) => ({ ...headers, [name]: value }),
        rules: { identity: false, lease: false },
      });
      if (!(await session.give(record))) return false;
    }
    return true;
  },
};

const garbage: Scenario = {
  name: GARBAGE,
  clauses: ["UTP-C13"],
  mustLiveOn: true,
  async run(session) {
    const payloads = [null, "tool_call_card_id", [1, 2], 7].map((payload) => ({ payload, raw: undefined }));
    const cut = { payload: null, raw: '{"tool_call_card_id": "ca' };
    for (const { payload, raw } of session.transport === "nats" ? [...payloads, cut] : payloads) {
      const record = session.make({
        scenario: GARBAGE,
        label: `the payload ${raw ?? JSON.stringify(payload)}`,
        changePayload: () => payload,
        rules: { afterExecution: false, lineage: false, lease: raw === undefined },
        ...(raw === undefined ? {} : { rawPayload: raw }),
      });
      if (!(await session.give(record))) return false;
    }
    return true;
  },
};

const claimTrouble: Scenario = {
  name: CLAIM_TROUBLE,
  clauses: ["UTP-C05"],
  mustLiveOn: true,
  run: async (session) => !session.isFetching() || session.failClaims(),
};

export const badCommandScenarios: readonly Scenario[] = [
  nameless,
  garbage,
  inline,
  identity,
  pointerless,
  incomplete,
  unreadable,
  claimTrouble,
];
