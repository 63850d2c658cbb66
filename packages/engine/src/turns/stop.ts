// Stop: a turn ends in any state. It does not go through the worker: the worker learns by its heartbeat, or by the ring, that
// its claim is gone, and what it commits afterwards changes nothing (T2).

import { showName, ToolplaneError } from "@toolplane/protocol";
import { FALLBACK_SOURCES } from "@toolplane/protocol/agents";
import { reasonIn, recordActs } from "../audit/audit.ts";
import type { Database, Queryer } from "../sql/database.ts";
import { announceEnd, type EndDeps, type EndedTurn, type EndTurn, type OutsideEnd } from "./end-turn.ts";
import { restoreHead } from "./restore-head.ts";
import type { Stopped, StopRequest, TurnKey, TurnStatus } from "./turn.ts";
import type { HeadRow, TurnRow } from "./turn-row.ts";
import { AWAIT_HEADS, bindAgents, bindTurns, READ_TURNS } from "./turns.sql.ts";
import { whenFree } from "./when-free.ts";

const DEFAULT_REASON = "stopped_by_pmo";
const STOPPED = "stopped";

const noTurn = ({ agentTurnId }: TurnKey): ToolplaneError =>
  new ToolplaneError("not_found", `there is no turn ${showName(agentTurnId)} in this project`);

const howOf = ({ actorId, reason = DEFAULT_REASON }: StopRequest, queued: boolean): OutsideEnd => ({
  status: queued ? "canceled" : "failed",
  error: reason.trim() === "" ? DEFAULT_REASON : reason,
  errorCode: STOPPED,
  source: FALLBACK_SOURCES.stop,
  headline: queued ? "the turn was canceled before it began" : "the turn was stopped",
  by: actorId,
  stopped: !queued,
});

const readTurn = async (tx: Queryer, key: TurnKey): Promise<TurnRow> => {
  const [turn] = await tx.query<TurnRow>(READ_TURNS, bindTurns([key]));
  if (turn === undefined) throw noTurn(key);
  return turn;
};

export const createStop = (deps: EndDeps & { readonly db: Database }, { endActive, endQueued }: EndTurn) => {
  const stopWithin = async (
    tx: Queryer,
    request: StopRequest,
  ): Promise<{ readonly stopped: Stopped; readonly done: EndedTurn | undefined }> => {
    const { agent_id: agentId } = await readTurn(tx, request);
    const [held] = await tx.query<HeadRow>(AWAIT_HEADS, bindAgents([{ projectId: request.projectId, agentId }]));
    // Read again: it may have ended, or begun, while its head was waited for.
    const turn = await readTurn(tx, request);
    if (turn.status !== "queued" && turn.status !== "active")
      return { stopped: { stopped: false, status: turn.status as TurnStatus }, done: undefined };
    const head = held ?? (await restoreHead(tx, turn));
    const done =
      turn.status === "queued"
        ? await endQueued(tx, turn, howOf(request, true))
        : await endActive(tx, head, turn, howOf(request, false));
    const { projectId, agentTurnId } = request;
    const detail = { agent_id: agentId, ...reasonIn(request.reason) };
    await recordActs(tx, request.by, [{ projectId, act: "turn.stopped", subject: agentTurnId, detail }]);
    return { stopped: { stopped: true, status: done.end.status }, done };
  };

  return async (request: StopRequest, outer?: Queryer): Promise<Stopped> => {
    if (outer !== undefined) return (await stopWithin(outer, request)).stopped;
    const { stopped, done } = await whenFree(deps.clock, () =>
      deps.db.transaction(async (tx) => {
        const outcome = await stopWithin(tx, request);
        await deps.faults.at("stop:before-commit");
        return outcome;
      }),
    );
    await deps.faults.at("stop:after-commit");
    if (done !== undefined) announceEnd(deps, done);
    return stopped;
  };
};
