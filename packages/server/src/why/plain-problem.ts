// Why a call of a service without leases waits. The plane hears nothing of such a service until its result comes, but it knows whether
// the command has left.

import type { CallView, WaitingCommand } from "@toolplane/engine";
import type { ToolDefinition } from "@toolplane/protocol";
import { isLegacySubject } from "@toolplane/protocol/v1r3";

export interface PlainFacts {
  readonly view: CallView;
  readonly busAway?: boolean | undefined;
  /** The plane was started without NATS. */
  readonly noNats?: boolean | undefined;
  /** Its command, while the command is in the outbox. */
  readonly command?: WaitingCommand | undefined;
}

export const SEE_NATS = "see that NATS runs and is reached";

const listens = (subject: string): string => `see that a service listens on ${subject}, and what its log says`;

const inOutbox = (
  { view: { subject }, busAway = false }: PlainFacts,
  command: WaitingCommand,
  next: string,
): string => {
  const place = "its command is still in the outbox of the plane";
  if (busAway) return `${place}, because NATS is away; it is sent when NATS is back`;
  if (command.tries === 0) return `${place} and leaves for ${subject} in a moment`;
  const why = isLegacySubject(subject) ? `no service listens on ${subject}` : "NATS did not take it";
  return `${place}: it was tried ${command.tries === 1 ? "once" : `${command.tries} times`}, and ${why}; the next try is at ${next}`;
};

/** What to do about a tool of a plain service on a plane that has no NATS. */
const planNatsAdvice = (subject: string): string => {
  const other = isLegacySubject(subject) ? "with a target_subject of version v1r4 and without" : "without";
  return `start the plane with --nats-url, or register the tool ${other} \`service: plain\``;
};

/** For the answer to a registration; undefined when the plane can reach the service. */
export const planPlainWarning = (
  { options, target_subject: subject }: Pick<ToolDefinition, "options" | "target_subject">,
  noNats: boolean,
): string | undefined =>
  noNats && options.service === "plain"
    ? `this plane has no NATS, so no command reaches a plain service, and calls of the tool wait until their time is over; ${planNatsAdvice(subject)}`
    : undefined;

/** `until` writes a time as people read it. */
export const planPlainWhy = (facts: PlainFacts, until: (date: Date | null) => string): readonly [string, string] => {
  const { view, command, busAway = false } = facts;
  const { subject } = view;
  if (facts.noNats === true)
    return [
      `this plane has no NATS, so no command reaches a plain service; the call gives up at ${until(view.runDeadline ?? view.queueDeadline)}`,
      planNatsAdvice(subject),
    ];
  const where =
    command === undefined
      ? `its command has left the outbox of the plane for ${subject} over NATS`
      : inOutbox(facts, command, until(command.dueAt));
  return [
    `${where}; the service takes no leases, so the plane hears only its result, and gives up at ${until(view.runDeadline ?? view.queueDeadline)}${busAway && command === undefined ? "; NATS is away" : ""}`,
    busAway ? SEE_NATS : listens(subject),
  ];
};
