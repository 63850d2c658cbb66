// The engine's own ways: direct calls of a safe and of an unsafe tool, with a key, with a caller that waits, and the
// step of an agent.

import type { LeasedCall } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import type { DoOne, Variant } from "./round.ts";
import { RESUME_AGENTS, TIDY } from "./scene.sql.ts";
import { AGENTS, ARGUMENTS, PROJECT, type Scene, type ToolName, thinkingWork } from "./scene.ts";
import { startService } from "./service.ts";

const CALL_WAIT_MS = 60_000;

/** Lanes that do not wait through the engine are told by the service. */
const createLanes = () => {
  const open = new Map<string, { resolve(): void; reject(error: unknown): void }>();
  const early = new Map<string, unknown>();
  return {
    settled(call: LeasedCall, error?: unknown): void {
      const id = call.facts.toolCallId;
      const lane = open.get(id);
      if (lane === undefined) early.set(id, error);
      else if (error === undefined) lane.resolve();
      else lane.reject(error);
      open.delete(id);
    },
    until(id: string): Promise<void> {
      return new Promise((resolve, reject) => {
        if (!early.has(id)) open.set(id, { resolve, reject });
        else if (early.get(id) === undefined) resolve();
        else reject(early.get(id) as Error);
        early.delete(id);
      });
    },
  };
};

type Lanes = ReturnType<typeof createLanes>;

const withService =
  ({ engine }: Scene, make: (lanes: Lanes) => DoOne): Variant["begin"] =>
  (inFlight) => {
    const lanes = createLanes();
    const doOne = make(lanes);
    const service = startService(engine, inFlight, lanes.settled);
    return { doOne, end: service.stop };
  };

const direct = (scene: Scene, toolName: ToolName, keyed: boolean): Variant["begin"] =>
  withService(scene, (lanes) => {
    const { calls } = scene.engine;
    let next = 0;
    const prefix = `key-${performance.now()}-`;
    return async () => {
      const request = { projectId: PROJECT, toolName, arguments: ARGUMENTS };
      const made = await calls.dispatch(keyed ? { ...request, idempotencyKey: `${prefix}${next++}` } : request);
      await lanes.until(made.toolCallId);
      return true;
    };
  });

const waiting = (scene: Scene, toolName: ToolName): Variant["begin"] =>
  withService(scene, () => {
    const { calls } = scene.engine;
    return async () => {
      const view = await calls.call({ projectId: PROJECT, toolName, arguments: ARGUMENTS }, CALL_WAIT_MS);
      if (view.status !== "success") throw new ToolplaneError("internal_error", `a call ended as ${view.status}`);
      return true;
    };
  });

const steps = (scene: Scene, toolName: ToolName): Variant["begin"] =>
  withService(scene, (lanes) => {
    const { turns } = scene.engine;
    let next = 0;
    return async () => {
      if (next === AGENTS) return false;
      const work = thinkingWork(++next);
      const stepId = `step_${work.agentId}_${performance.now()}`;
      const made = await turns.commitStep(work, { stepId, entries: [{ call: { toolName, arguments: ARGUMENTS } }] });
      await lanes.until(made.calls[0]?.toolCallId ?? "");
      return true;
    };
  });

const resumeAgents = (scene: Scene) => async (): Promise<void> => {
  await scene.aside.query({ name: "", text: RESUME_AGENTS }, [PROJECT]);
  for (const text of TIDY) await scene.aside.query({ name: "", text });
};

export const engineVariants = (scene: Scene): readonly Variant[] => [
  {
    name: "direct, safe",
    adds: "schema, version, lease, deadlines, one settlement",
    begin: direct(scene, "count_words", false),
  },
  { name: "direct, unsafe", adds: "the lease is synced", begin: direct(scene, "send_words", false) },
  { name: "direct, safe, key", adds: "idempotency key", begin: direct(scene, "count_words", true) },
  { name: "direct, safe, waiting", adds: "the caller waits and reads", begin: waiting(scene, "count_words") },
  {
    name: "agent step, safe",
    adds: "claim, head, step, box, events, inbox, wakeup",
    begin: steps(scene, "count_words"),
    restore: resumeAgents(scene),
  },
];
