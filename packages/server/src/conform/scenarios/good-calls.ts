// Calls there is nothing wrong with: two that differ in their arguments, as many at once as the service asks for, one with
// fields from the future, one whose card and headers disagree about lineage.

import { HEADERS, type JsonObject } from "@toolplane/protocol";
import type { Scenario } from "./scenario.ts";

export const TWO_CALLS = "two calls";
export const AT_ONCE = "calls at once";
export const EXTENSIONS = "extension fields";
const LINEAGE = "lineage";
export const STANDING = "result card that is there";
export const CHANNEL = "another channel";
/** Asked after everything that may have hurt the service. */
export const CANARY = "canary";

/** Enough to see that none is forgotten. */
const MOST_AT_ONCE = 8;
/** Over NATS a service of several threads fetches one by one. */
const LEAST_OVER_NATS = 4;

export const twoCalls: Scenario = {
  name: TWO_CALLS,
  clauses: ["UTP-C06"],
  async run(session) {
    const { first, second = first } = session.samples;
    const suspending = session.make({ scenario: TWO_CALLS, label: "the first call", arguments: first });
    if (!(await session.call(suspending))) return false;
    return session.call(
      session.make({
        scenario: TWO_CALLS,
        label: "the second call",
        arguments: second,
        afterExecution: "terminate",
      }),
    );
  },
};

const atOnce: Scenario = {
  name: AT_ONCE,
  clauses: ["UTP-C04"],
  async run(session) {
    const least = session.transport === "nats" ? LEAST_OVER_NATS : 1;
    const length = Math.min(Math.max(session.claimSize(), least), MOST_AT_ONCE);
    const records = Array.from({ length }, (_, index) =>
      session.make({ scenario: AT_ONCE, label: `call ${index + 1} of one claim` }),
    );
    if (!(await session.give(...records))) return false;
    const answers = await Promise.all(records.map((record) => session.answered(record)));
    return answers.every(Boolean);
  },
};

const extensions: Scenario = {
  name: EXTENSIONS,
  clauses: ["UTP-C12"],
  run: (session) =>
    session.call(
      session.make({
        scenario: EXTENSIONS,
        label: "a payload with fields from the future",
        changePayload: (payload) => ({ ...payload, priority: 3, x_vendor: { note: "ignore me" } }),
      }),
    ),
};

/** The headers say one thing about step and parent step, the card another: the card counts. */
const lineage: Scenario = {
  name: LINEAGE,
  clauses: ["UTP-C26"],
  async run(session) {
    if (!session.isTwoStep()) return true;
    return session.call(
      session.make({
        scenario: LINEAGE,
        label: "a card whose lineage is not the headers'",
        changeHeaders: (headers) => ({ ...headers, [HEADERS.stepId]: "step_of_the_headers" }),
        changeCard: (card) => {
          const { parent_step_id: _none, ...metadata } = card.metadata as JsonObject;
          return { ...card, metadata };
        },
      }),
    );
  },
};

/** Another process of the service was first with its card. */
const standing: Scenario = {
  name: STANDING,
  clauses: ["UTP-C48"],
  async run(session) {
    if (!session.isTwoStep()) return true;
    const script = { cards: ["standing"] as const };
    return session.call(session.make({ scenario: STANDING, label: "a call that has a result card", script }));
  },
};

const channel: Scenario = {
  name: CHANNEL,
  clauses: ["UTP-C49"],
  run: (session) =>
    session.call(session.make({ scenario: CHANNEL, label: "a call of another channel", channel: "u_conform" })),
};

export const goodScenarios: readonly Scenario[] = [atOnce, extensions, lineage, standing, channel];
