// Serves one target in every project at once: one service with one queue for all projects, and a runner per project, because a
// gateway is bound to one project.

import { createRecent, type Engine, type LeasedCall, sha256 } from "@toolplane/engine";
import { tryParseSubject } from "@toolplane/protocol";
import {
  type Clock,
  createDefinitionMemory,
  createIds,
  createRunner,
  type Executor,
  type Log,
  type Random,
  type Runner,
  type SecretSource,
  startToolService,
  type ToolService,
} from "@toolplane/sdk";
import type { ClaimedCommand, ToolGateway } from "@toolplane/sdk/protocol";
import type { ClockOffset } from "./clock-offset.ts";
import { commandOf, createEngineGateway } from "./engine-gateway.ts";

/** What every service of this process needs. */
export interface ServiceMeans {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly offset: ClockOffset;
  /** While the store is away: resolves when it is back. Asking it earlier would only lengthen the service's pauses. */
  readonly storeBack?: (() => Promise<void> | undefined) | undefined;
  /** This process, as people read it in `why`. */
  readonly holder: string;
}

export interface ServeAcrossOptions extends ServiceMeans {
  readonly target: string;
  /** `sys` for the plane's own services. */
  readonly component?: "tool" | "sys" | undefined;
  readonly actor: string;
  readonly executorFor: (projectId: string) => Executor;
  /** Where the values of variables come from; without it there are none, and a definition that names one does not get it. */
  readonly secretsFor?: ((projectId: string) => SecretSource) | undefined;
  /** Parameter -> variable, by the operator of the plane. */
  readonly envs?: Readonly<Record<string, string>> | undefined;
  readonly concurrency: number;
}

/** A runner is small; when one is dropped, only its memory of seen commands is lost. */
const MAX_RUNNERS = 256;

/** Until the store is back, or the service is to stop. */
const untilBack = async (back: Promise<void>, stop: AbortSignal | undefined): Promise<void> => {
  const done = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    if (stop?.aborted) resolve();
    else stop?.addEventListener("abort", () => resolve(), { once: true, signal: done.signal });
  });
  await Promise.race([back, stopped]);
  done.abort();
};

export const serveAcross = (options: ServeAcrossOptions): ToolService => {
  const { engine, clock, random, log, offset, holder, target, actor } = options;
  const ids = createIds(clock.now);
  const definitions = createDefinitionMemory(sha256);
  const runners = createRecent<Runner>(MAX_RUNNERS);
  /** The project of each lease that was not started yet. */
  const projectOf = new Map<string, string>();

  const gatewayFor = (projectId: string): ToolGateway =>
    createEngineGateway({ engine, projectId, actorId: actor, holder, clock, random, offset });

  const runnerFor = (projectId: string): Runner => {
    const known = runners.get(projectId);
    if (known !== undefined) return known;
    const runner = createRunner({
      gateway: gatewayFor(projectId),
      executor: options.executorFor(projectId),
      target,
      component: options.component,
      actor,
      clock,
      ids,
      random,
      log,
      secrets: options.secretsFor?.(projectId) ?? (() => undefined),
      envs: options.envs,
      definitions,
    });
    runners.set(projectId, runner);
    return runner;
  };

  const remember = (leased: LeasedCall): ClaimedCommand => {
    projectOf.set(leased.lease.id, leased.facts.projectId);
    return commandOf(leased, offset);
  };

  return startToolService({
    gateway: {
      async claim({ target, max, waitMs }, signal) {
        const back = options.storeBack?.();
        if (back !== undefined) await untilBack(back, signal);
        return (await engine.calls.claimAcross({ target, max, holder }, waitMs, signal)).map(remember);
      },
      async release(held, patience) {
        const projectId = projectOf.get(held.leaseId);
        projectOf.delete(held.leaseId);
        if (projectId !== undefined) await gatewayFor(projectId).release(held, patience);
      },
    },
    runner: {
      handle(command, stop) {
        if (command.lease !== undefined) projectOf.delete(command.lease.id);
        return runnerFor(tryParseSubject(command.subject)?.projectId ?? "").handle(command, stop);
      },
    },
    target,
    concurrency: options.concurrency,
    clock,
    random,
    log,
  });
};
