// Asking for work, for the claim route and for the exchange.
// When the client of a claim has gone, its leases are given back at once instead of waiting for them to lapse.

import { PMO_SERVICE } from "@toolplane/agents";
import type { Engine, LeasedCall } from "@toolplane/engine";
import { type HeaderMap, isToken, showName, ToolplaneError } from "@toolplane/protocol";
import { checkServicePlace } from "@toolplane/protocol/agents";
import { z } from "zod";
import { noProject } from "../http/known-project.ts";
import { plainText, refuseTarget, type ServiceCaller } from "./service-request.ts";

/** Longer than the name of any target a tool may have. */
const MAX_TARGET_LENGTH = 128;
const MAX_WAIT_SECONDS = 60;
export const MAX_CLAIM = 256;

/** The fields of a claim that mean the same in an exchange. */
export const claimFields = {
  /** Who runs it, as people will read it in `why`. */
  holder: z.string().min(1).max(128).optional(),
  /** The hashes of the definitions it runs: calls of tools with `pin: strict` are given only under one of them. */
  definitions: z.array(plainText).max(256).optional(),
};

export const waitSeconds = z.number().min(0).max(MAX_WAIT_SECONDS);

export interface ClaimAsked {
  readonly engine: Pick<Engine, "calls" | "projects">;
  readonly projectId: string;
  readonly target: string;
  readonly holder: string;
  readonly max: number;
  readonly waitMs: number;
  readonly definitions?: readonly string[] | undefined;
  /** The door does not see when the service is gone. */
  readonly unwatched?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** Checks that the target is valid, that the caller serves it, and that the headers can be true. */
export const checkTarget = (caller: ServiceCaller, target: string, projectId: string, headers: HeaderMap): void => {
  // A claim for such a target would wait for ever.
  if (!isToken(target) || target.length > MAX_TARGET_LENGTH)
    throw new ToolplaneError("bad_request", `a target is letters, digits, _ and -, not ${showName(target)}`);
  // Commands of this target are cmd.sys, whatever targets a token names.
  if (target === PMO_SERVICE.target)
    throw new ToolplaneError("auth_failed", "the project manager's commands are not handed to tool services");
  if (caller.targets?.includes(target) === false) throw refuseTarget(caller, target);
  checkServicePlace(headers, { projectId });
};

export const giveBackCalls = async ({ calls }: Pick<Engine, "calls">, leased: readonly LeasedCall[]): Promise<void> => {
  await Promise.all(leased.map(({ facts, lease }) => calls.release({ ...facts, leaseId: lease.id })));
};

export const claimCalls = async (asked: ClaimAsked): Promise<readonly LeasedCall[]> => {
  const { engine, projectId, target, holder, max, waitMs, definitions, unwatched, signal } = asked;
  const request = { projectId, target, holder, max, definitions, unwatched };
  // Asked before the queue, mostly from memory: the wait itself reads the queue, and reads an empty queue only once.
  if (!(await engine.projects.isKnown(projectId))) throw noProject(projectId);
  const calls = await engine.calls.claim(request, waitMs, signal);
  // The client went away while it waited: calls it cannot receive go back at once.
  if (signal.aborted && calls.length > 0) {
    await giveBackCalls(engine, calls);
    return [];
  }
  return calls;
};
