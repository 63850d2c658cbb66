// The life of one configured MCP server: connected, its tools registered, served; or failed with a reason, and tried again. No
// failure here stops the stack; it is logged once per reason and shown by `why`.

import { createRetrySafe, mcpTarget } from "@toolplane/bridges";
import { createMcpExecutor, createMcpLink, defineMcpTools, type McpLink } from "@toolplane/bridges/mcp";
import { type Actor, type Engine, sha256 } from "@toolplane/engine";
import { type Backoff, ToolplaneError, understandError } from "@toolplane/protocol";
import { type Clock, createRunner, createScrubber, scrubLog, startToolService, type ToolService } from "@toolplane/sdk";
import type { ToolGateway } from "@toolplane/sdk/protocol";
import type { HostView } from "../hosts/host-life.ts";
import { startTries } from "../tool-sources/tries.ts";
import { readVersion } from "../up/version.ts";
import type { McpSetting } from "./mcp-settings.ts";
import { planMcpView } from "./mcp-view.ts";
import { type McpMeans, openTransport, secretsOf } from "./open-transport.ts";
import { dropLeftOut, explainChange, type Registry, registerTools, type ServedMcpTool } from "./register-tools.ts";

export interface McpLifeOptions extends McpMeans {
  readonly setting: McpSetting;
  readonly engine: Pick<Engine, "tools">;
  readonly gateway: ToolGateway;
  readonly clock: Clock;
}

export interface McpLife {
  /** Resolves when the first try has ended, well or not. */
  readonly tried: Promise<void>;
  /** Why it is not ready; undefined when it is. */
  problem(): ToolplaneError | undefined;
  view(): HostView;
  stop(drainMs: number): Promise<void>;
}

const PAUSE_MS: Backoff = { first: 1_000, longest: 60_000 };
/** Few enough that a crash does not lose hundreds of calls. */
const CONCURRENCY = 64;

export const createMcpLife = (options: McpLifeOptions): McpLife => {
  const { setting, engine, gateway, clock, random } = options;
  const { name } = setting;
  const target = mcpTarget(name);
  const source = `mcp:${name}`;
  const by: Actor = { door: "host", tokenId: null, role: "tool", actor: source };
  const registry: Registry = { engine, projectId: options.projectId, source, by, newWait: "url" in setting.place };
  const stopping = new AbortController();
  let link: McpLink | undefined;
  let service: ToolService | undefined;
  let served: readonly ServedMcpTool[] = [];
  let problem: ToolplaneError | undefined = new ToolplaneError(
    "upstream_unavailable",
    `MCP server ${name} is starting`,
  );
  let told: string | undefined;
  let phase: HostView["phase"] = "starting";
  let refused: HostView["refused"] = [];

  const register = async (open: McpLink): Promise<void> => {
    const listed = await open.listTools(stopping.signal);
    const isWanted = createRetrySafe(setting.tools);
    const given = { ...setting, server: name, projectId: options.projectId, isWanted };
    // The registry compiles the schemas; here only the form of a definition is checked.
    const defined = defineMcpTools(listed, given, { compileSchema: () => () => [], sha256 });
    const registered = await registerTools(registry, defined.tools);
    await dropLeftOut(registry, defined.leftOut);
    served = registered.served;
    refused = [...defined.refused, ...registered.refused];
    for (const { name: tool, reason } of refused)
      options.log.warn("a tool of an MCP server is left out", { server: name, tool, reason });
    for (const { definition, isChanged } of served)
      if (isChanged)
        options.log.warn("a tool of an MCP server has changed and waits", {
          server: name,
          reason: (await explainChange(registry, name, definition.tool_name)).message,
          todo: `toolplane tools accept ${definition.tool_name}`,
        });
  };

  /** The server says that its tools have changed: looked at again, one look at a time. */
  let looking: Promise<void> | undefined;
  const lookAgain = (): void => {
    const open = link;
    if (service === undefined || open === undefined || looking !== undefined) return;
    looking = register(open)
      .catch((error: unknown) =>
        options.log.warn("the tools of an MCP server cannot be read", { server: name, reason: String(error) }),
      )
      .finally(() => {
        looking = undefined;
      });
  };

  /** A person may have accepted the change since. */
  const whyChanged = async (tool: { readonly definition: { readonly tool_name: string } }) => {
    const mine = served.find(({ definition }) => definition.tool_name === tool.definition.tool_name);
    if (mine === undefined || !mine.isChanged) return undefined;
    const again = (await registerTools(registry, [mine])).served[0];
    if (again === undefined || again.isChanged) return explainChange(registry, name, tool.definition.tool_name);
    served = served.map((one) => (one === mine ? again : one));
    return undefined;
  };

  const serve = (open: McpLink, secrets: ReadonlyMap<string, string>): void => {
    const log = scrubLog(options.log, createScrubber(secrets));
    service = startToolService({
      gateway,
      runner: createRunner({
        gateway,
        executor: createMcpExecutor({ server: name, link: open, tools: () => served, now: clock.now, whyChanged }),
        target,
        clock,
        random,
        log,
        secrets: () => undefined,
        ownSecrets: secrets,
      }),
      target,
      concurrency: CONCURRENCY,
      // The accepted definition and the offered one, which a person may accept at any time.
      definitions: () => [
        ...new Set(served.flatMap(({ inForceHash, definitionHash }) => [inForceHash, definitionHash])),
      ],
      clock,
      random,
      log,
    });
  };

  const attempt = async (): Promise<void> => {
    const secrets = secretsOf(setting, options);
    const log = scrubLog(options.log, createScrubber(secrets));
    link ??= createMcpLink({
      name,
      version: readVersion(),
      elicitation: setting.elicitation,
      open: () => openTransport(setting, { ...options, log }),
      log,
      now: clock.now,
      random,
      sleep: (ms, signal) => clock.sleep(ms, signal),
      toolsChanged: lookAgain,
    });
    await register(link);
    if (stopping.signal.aborted) return;
    serve(link, secrets);
    problem = undefined;
    phase = "ready";
    log.info("an MCP server is ready", { server: name, tools: served.length });
  };

  const failed = (error: unknown): "again" => {
    const { code, message } = understandError(error, { keepMessage: true });
    problem = new ToolplaneError(code, message);
    phase = "failed";
    // Logged once per reason: a server that stays away would log the same every minute.
    if (told !== message) options.log.error("an MCP server cannot be used", { server: name, code, reason: message });
    told = message;
    return "again";
  };

  const tries = startTries({ attempt, failed, pause: PAUSE_MS, clock });
  return {
    tried: tries.tried,
    problem: () => problem,
    view: () => ({
      ...planMcpView(setting),
      phase,
      // While it starts, that is all there is to say.
      problem: phase === "failed" ? problem : undefined,
      tools: served.map(({ definition }) => definition.tool_name),
      refused,
      host: link,
    }),
    async stop(drainMs) {
      const ended = tries.stop();
      stopping.abort();
      await service?.stop({ drainMs });
      await link?.close();
      await ended;
    },
  };
};
