// The life of one configured host: started, its tools registered, served; or failed with a reason, and tried again.
//
// starting --described, registered--> ready
//    |                                  (from here on its supervisor restarts what dies)
//    +--anything wrong--> failed --backoff--> starting     a configuration that the host refuses stays failed
//
//   HL1. No failure here stops the stack; it is logged once per reason and shown by GET /hosts and by `why`.
//   HL2. Tools that the host no longer offers are deleted; tools of a host that does not start stay registered.
//   HL3. The host's secrets are removed from everything that is said about it here, as from everything it says (I8).

import {
  createHostExecutor,
  createHostLimits,
  createToolHost,
  type DefinedHostTool,
  defineHostTools,
  type HostDescription,
  type HostPorts,
  type ToolHost,
} from "@toolplane/bridges";
import { type Actor, type Engine, sha256, type ToolUpsertResult } from "@toolplane/engine";
import { type Backoff, ToolplaneError, understandError } from "@toolplane/protocol";
import type { RefusedHostTool } from "@toolplane/protocol/host";
import {
  type Clock,
  createRunner,
  createScrubber,
  type Log,
  type Random,
  scrubLog,
  startToolService,
  type ToolService,
} from "@toolplane/sdk";
import type { ToolGateway } from "@toolplane/sdk/protocol";
import { allTools } from "../tool-sources/all-tools.ts";
import { startTries } from "../tool-sources/tries.ts";
import { fillConfig } from "./host-config.ts";
import { type HostSetting, hostSecrets } from "./host-settings.ts";
import { planHostTool } from "./plan-host-tool.ts";

export type HostPhase = "starting" | "ready" | "failed" | "elsewhere";

export interface HostView {
  readonly kind: "host" | "mcp";
  readonly setting: Pick<HostSetting, "name" | "target" | "prefix" | "session">;
  /** The program without its arguments, or the origin of an address. */
  readonly program: string | undefined;
  readonly phase: HostPhase;
  /** Why it is not ready, in one sentence. */
  readonly problem: ToolplaneError | undefined;
  readonly description: HostDescription | undefined;
  /** Names under which its tools are registered. */
  readonly tools: readonly string[];
  readonly refused: readonly RefusedHostTool[];
  readonly host:
    | { status(): Omit<ReturnType<ToolHost["status"]>, "name" | "queued"> & { readonly queued?: number } }
    | undefined;
}

export interface HostLifeOptions {
  readonly setting: HostSetting;
  readonly engine: Pick<Engine, "tools" | "schemas">;
  readonly gateway: ToolGateway;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folders of the plane itself, which no sandbox opens. */
  readonly closed?: readonly string[];
  readonly guard?: HostPorts["guard"];
}

export interface HostLife {
  /** Resolves when the first try has ended, well or not. */
  readonly tried: Promise<void>;
  view(): HostView;
  stop(drainMs: number): Promise<void>;
}

/** A program that is being replaced is back within seconds; one that is broken stays so for hours. */
const PAUSE_MS: Backoff = { first: 1_000, longest: 60_000 };
/** What one claim takes at most. */
const MAX_CONCURRENCY = 256;
const PAGE = 200;

export const createHostLife = (options: HostLifeOptions): HostLife => {
  const { setting, engine, gateway, clock, random, env } = options;
  const { name, target } = setting;
  const secrets = hostSecrets(setting, env);
  const scrubber = createScrubber(secrets);
  const log = scrubLog(options.log, scrubber);
  const source = `host:${name}`;
  const by: Actor = { door: "host", tokenId: null, role: "tool", actor: source };
  let host: ToolHost | undefined;
  let service: ToolService | undefined;
  let phase: HostPhase = "starting";
  let problem: ToolplaneError | undefined;
  let registered: readonly DefinedHostTool[] = [];
  let refused: readonly RefusedHostTool[] = [];

  /** The tools of the host that the registry accepted. */
  const register = async (description: HostDescription): Promise<void> => {
    const given = { ...setting, host: name, projectId: gateway.projectId };
    const isRetrySafe = (tool: string): boolean => host?.isRetrySafe(tool) ?? false;
    // The host's schemas were checked when it was opened, and the registry checks them again.
    const defined = defineHostTools(description, { ...given, isRetrySafe }, { compileSchema: () => () => [], sha256 });
    const uploads = defined.tools.map(({ definition }) => definition);
    const results: (ToolUpsertResult | ToolplaneError)[] = [];
    for (let at = 0; at < uploads.length; at += PAGE)
      results.push(
        ...(await engine.tools.upsertTools(gateway.projectId, uploads.slice(at, at + PAGE), { source, by })),
      );
    const taken = defined.tools.map((tool, index) => planHostTool(tool, results[index]));
    const conflicts = taken.flatMap((one) => ("reason" in one ? [one] : []));
    registered = taken.flatMap((one) => ("reason" in one ? [] : [one.tool]));
    for (const one of taken)
      if ("waits" in one && one.waits !== undefined) log.warn("a tool of a host waits", { host: name, ...one.waits });
    refused = [...defined.refused, ...conflicts].map(({ name: tool, reason }) => ({
      name: tool,
      reason: scrubber.text(reason),
    }));
    for (const { name: tool, reason } of refused)
      log.warn("a tool of a host is left out", { host: name, tool, reason });
  };

  const forgetOldTools = async (): Promise<void> => {
    const kept = new Set(registered.map(({ definition }) => definition.tool_name));
    for await (const tool of allTools(engine, gateway.projectId)) {
      if (tool.source !== source || kept.has(tool.toolName)) continue;
      await engine.tools.deleteTool(gateway.projectId, tool.toolName, { by, byProgram: true });
      log.info("a tool that its host no longer offers was deleted", { host: name, tool: tool.toolName });
    }
  };

  const serve = (running: ToolHost, description: HostDescription): void => {
    const { pool, inFlight } = createHostLimits(setting.options.limits);
    const atOnce = pool * (description.extensions.includes("cancel") ? inFlight : 1);
    service = startToolService({
      gateway,
      runner: createRunner({
        gateway,
        executor: createHostExecutor({ host: running, tools: registered, now: clock.now }),
        target,
        clock,
        random,
        log,
        secrets: () => undefined,
        ownSecrets: secrets,
        // The supervisor repeats what may be repeated.
        maxAttempts: 1,
      }),
      target,
      concurrency: Math.min(atOnce, MAX_CONCURRENCY),
      definitions: () => registered.map(({ definitionHash }) => definitionHash),
      clock,
      random,
      log,
    });
  };

  const attempt = async (stop: AbortSignal): Promise<void> => {
    phase = "starting";
    const config = fillConfig(name, setting.options.config ?? {}, env);
    host ??= createToolHost(
      { ...setting.options, config, closed: options.closed ?? [] },
      {
        checkSchema: (schema, value) => engine.schemas.check(schema, value, gateway.projectId),
        log,
        env,
        random,
        secrets,
        ...(options.guard === undefined ? {} : { guard: options.guard }),
      },
    );
    const description = await host.start();
    await register(description);
    await forgetOldTools();
    if (stop.aborted) return;
    serve(host, description);
    phase = "ready";
    problem = undefined;
    log.info("a host is ready", { host: name, target, tools: registered.length, left_out: refused.length });
  };

  const failed = (error: unknown): "again" | "over" => {
    const { code, message } = understandError(error, { keepMessage: true });
    const understood = new ToolplaneError(code, scrubber.text(message));
    // Logged once per reason: a host that stays broken would log the same every minute.
    if (problem?.message !== understood.message)
      log.error("a host cannot be used", {
        host: name,
        code: understood.code,
        reason: understood.message,
        // When a program ended at once, its last output usually says why.
        last_stderr: host?.status().lastStderr,
      });
    phase = "failed";
    problem = understood;
    return problem.code === "bad_request" ? "over" : "again";
  };

  const tries = startTries({ attempt, failed, pause: PAUSE_MS, clock });

  return {
    tried: tries.tried,
    view: () => ({
      kind: "host",
      setting,
      program: setting.options.command[0],
      phase,
      problem,
      description: host?.describe(),
      tools: registered.map(({ definition }) => definition.tool_name),
      refused,
      host,
    }),
    async stop(drainMs) {
      const ended = tries.stop();
      await service?.stop({ drainMs });
      await host?.close();
      await ended;
    },
  };
};
