// Runs the scenarios one after the other and keeps the service alive between them.
//   RX1. When a service ends or stops answering, the clauses of that scenario fail, and the service is started again.
//   RX2. When it cannot be started again, the remaining clauses are not judged.
//   RX3. A service that answers no ordinary call is not asked anything else.

import type { ClauseId } from "./clauses.ts";
import { CANARY } from "./scenarios/good-calls.ts";
import { FIRST_SCENARIO, scenariosOver } from "./scenarios/index.ts";
import { untilAcknowledged } from "./scenarios/nats.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import type { ServiceLife } from "./service-life.ts";
import type { Session } from "./session.ts";

export interface Troubles {
  /** Clauses that failed because the service ended or hung. */
  readonly fatal: ReadonlyMap<ClauseId, string>;
  /** Clauses that could not be judged, and why. */
  readonly unseen: ReadonlyMap<ClauseId, string>;
}

export interface ScenarioRunOptions {
  readonly session: Session;
  readonly life: ServiceLife;
  /** Starts the service again and waits until it claims; false when it does not. */
  readonly restart: () => Promise<boolean>;
  readonly onScenario: (scenario: Scenario) => void;
}

export const runScenarios = async (options: ScenarioRunOptions): Promise<Troubles> => {
  const { session, life, restart } = options;
  const fatal = new Map<ClauseId, string>();
  const unseen = new Map<ClauseId, string>();

  const isAlive = (): Promise<boolean> =>
    session.call(session.make({ scenario: CANARY, label: "an ordinary call afterwards" }));

  /** What went wrong with the service itself, if anything did. */
  const play = async (scenario: Scenario): Promise<string | undefined> => {
    options.onScenario(scenario);
    const came = await scenario.run(session);
    if (came && scenario.mustLiveOn !== true && life.ended() === undefined) return undefined;
    if (life.ended() === undefined && (await isAlive())) return undefined;
    const ending = life.ended();
    return ending === undefined ? "the service stopped answering" : `the service ${ending}`;
  };

  let over: string | undefined;
  for (const scenario of [FIRST_SCENARIO, ...scenariosOver(session.transport)]) {
    if (over !== undefined) {
      for (const clause of scenario.clauses) unseen.set(clause, over);
      continue;
    }
    const trouble = await play(scenario);
    if (trouble === undefined) continue;
    for (const clause of scenario.clauses) fatal.set(clause, `${trouble} (${scenario.name})`);
    if (scenario === FIRST_SCENARIO) over = "not tried: the service answers no ordinary call";
    else if (!(await restart())) over = `not tried: ${trouble} before it (${scenario.name})`;
  }
  // A last wait for messages that should not come any more.
  if (over === undefined) await isAlive();
  if (session.transport === "nats") await untilAcknowledged(session);
  return { fatal, unseen };
};
