// Everything that can happen to calls on a busy day, once, a set at a time: so that every hot statement is seen.

import type { LeasedCall } from "@toolplane/engine";
import { RESUME_AGENTS } from "./scene.sql.ts";
import { ARGUMENTS, PROJECT, RESULT, type Scene, TARGET, thinkingWork } from "./scene.ts";

export const exerciseEverything = async ({ engine, aside }: Scene, calls: number): Promise<void> => {
  const api = engine.calls;
  const times = <T>(make: (index: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: calls }, (_, index) => make(index)));
  const dispatch = (key?: string) =>
    api.dispatch({ projectId: PROJECT, toolName: "count_words", arguments: ARGUMENTS, idempotencyKey: key });
  const claim = () => api.claim({ projectId: PROJECT, target: TARGET, holder: "bench", max: calls });
  const held = ({ facts, lease }: LeasedCall) => ({
    projectId: facts.projectId,
    toolCallId: facts.toolCallId,
    leaseId: lease.id,
  });
  const settle = (call: LeasedCall) =>
    api.settle({ ...held(call), actorId: call.facts.actorId, outcome: { given: RESULT } });

  // The plain way, by a bus, with beats, a change of mind and a result.
  const made = await times(() => dispatch());
  const first = await claim();
  await Promise.all(first.map((call) => api.heartbeat(held(call))));
  await Promise.all(first.map((call) => api.release(held(call))));
  const leased = await Promise.all(
    first.map(({ facts }) =>
      api.lease({
        projectId: PROJECT,
        toolCallId: facts.toolCallId,
        agentTurnId: facts.agentTurnId,
        callCardId: facts.callCardId,
        holder: "bench",
      }),
    ),
  );
  await Promise.all(leased.map(settle));
  await api.find(made.map(({ toolCallId }) => ({ projectId: PROJECT, toolCallId })));
  await api.list(PROJECT, { limit: 100 });

  // Keys, used twice; then canceled.
  const prefix = `explained-${performance.now()}-`;
  const keyed = await times((index) => dispatch(`${prefix}${index}`));
  await times((index) => dispatch(`${prefix}${index}`));
  await Promise.all(keyed.map(({ toolCallId }) => api.cancel({ projectId: PROJECT, toolCallId })));

  // An agent's step each.
  await times((index) =>
    engine.turns.commitStep(thinkingWork(index + 1), {
      stepId: `step_${prefix}${index}`,
      entries: [{ call: { toolName: "count_words", arguments: ARGUMENTS } }],
    }),
  );
  await Promise.all((await claim()).map(settle));
  await aside.query({ name: "", text: RESUME_AGENTS }, [PROJECT]);

  await engine.expire();
  await engine.depths();
};
