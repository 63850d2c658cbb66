// What happens over NATS only: a command is a message apart from its call. Another service may hold the call, the call may not be
// due yet, or belong to a project that shares the target; and every command must be acknowledged in the end.

import { HEADERS } from "@toolplane/protocol";
import type { CallRecord } from "../evidence.ts";
import type { Session } from "../session.ts";
import type { Scenario } from "./scenario.ts";

export const HELD = "call of somebody else";
export const LATER = "call that is not due";
export const FOREIGN = "command of another project";
export const CONTRADICTION = "headers against the subject";

const FOREIGN_PROJECT = "elsewhere";
/** A final refusal is repeated as often as the service asks. */
const FOR_GOOD = 32;
/** An acknowledgement needs no work; one that has not come by then will not come. */
const ACK_MS = 2_000;

export const isSettled = ({ words, abandoned }: CallRecord["trace"]["commands"][number]): boolean =>
  abandoned || words.some(({ word }) => word === "ack" || word === "term");

const held: Scenario = {
  name: HELD,
  clauses: ["UTP-C38"],
  mustLiveOn: true,
  run: (session) =>
    session.give(
      session.make({
        scenario: HELD,
        label: "a call that somebody else holds",
        script: { leases: Array.from({ length: FOR_GOOD }, () => "held" as const) },
        rules: { lease: false },
      }),
    ),
};

const later: Scenario = {
  name: LATER,
  clauses: ["UTP-C39"],
  mustLiveOn: true,
  async run(session) {
    const record = session.make({
      scenario: LATER,
      label: "a call that is not due yet",
      script: { leases: ["later"] },
    });
    return (await session.call(record)) && session.until(() => record.trace.offers.length > 0);
  },
};

const foreign: Scenario = {
  name: FOREIGN,
  clauses: ["UTP-C41"],
  mustLiveOn: true,
  run: async (session) =>
    !session.isFetching() ||
    session.give(
      session.make({
        scenario: FOREIGN,
        label: "a command of another project",
        foreignProject: FOREIGN_PROJECT,
        rules: { lease: false },
      }),
    ),
};

const contradiction: Scenario = {
  name: CONTRADICTION,
  clauses: ["UTP-C44"],
  mustLiveOn: true,
  async run(session) {
    for (const header of [HEADERS.projectId, HEADERS.channelId]) {
      const record = session.make({
        scenario: CONTRADICTION,
        label: `a command whose ${header} is not its subject's`,
        changeHeaders: (headers) => ({ ...headers, [header]: FOREIGN_PROJECT }),
        rules: { lease: false },
      });
      if (!(await session.give(record))) return false;
    }
    return true;
  },
};

/** Waits until the commands are acknowledged: the acknowledgements of the last ones may still be on their way. */
export const untilAcknowledged = async (session: Session): Promise<void> => {
  const owed = session.calls().filter(({ call }) => call.scenario !== FOREIGN);
  await session.until(() => owed.every(({ trace }) => trace.commands.every(isSettled)), ACK_MS);
};

export const natsScenarios: readonly Scenario[] = [held, later, foreign, contradiction];
