// The life of one configured API: its document is read, its operations are registered, and what could not be is named.
//
// importing --read, registered--> ready
//     |--a document that cannot be imported--> failed   (until the next start)
//     |--an address that does not answer--> failed --backoff--> importing
//
//   AL1. No failure here stops the stack. Tools of earlier imports stay registered and run: their definitions say all.
//   AL2. The document is not kept: a thread reads it, and only definitions and reasons come back.
//   AL3. A document from an address never puts a tool or a change in force; a person accepts it.

import type { ImportOutcome } from "@toolplane/bridges/openapi";
import type { AllowedOrigin } from "@toolplane/egress/policy";
import type { Actor, Engine, Threads } from "@toolplane/engine";
import { type Backoff, ToolplaneError, understandError } from "@toolplane/protocol";
import type { Clock, Log } from "@toolplane/sdk";
import { allTools } from "../tool-sources/all-tools.ts";
import { startTries, type Tries } from "../tool-sources/tries.ts";
import type { ApiSetting } from "./api-settings.ts";
import type { FetchDocument } from "./fetch-document.ts";
import type { ImportWork } from "./import-work.ts";
import { groupReasons, type KnownTool, namesOf, planImport } from "./plan-import.ts";

export interface ApiLifeOptions {
  readonly setting: ApiSetting;
  readonly projectId: string;
  readonly engine: Pick<Engine, "tools">;
  readonly threads: Threads;
  readonly fetchDocument: FetchDocument;
  readonly allow: readonly AllowedOrigin[];
  readonly clock: Clock;
  readonly log: Log;
}

export type ApiLife = Tries;

/** An address that is away for a moment is soon back; one that is wrong stays so until the file is changed. */
const PAUSE_MS: Backoff = { first: 5_000, longest: 600_000 };
/** As many as a transaction registers in a few hundred milliseconds. */
const PAGE = 100;

const IMPORT_WORK = new URL(`./import-work.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url);

export const createApiLife = (options: ApiLifeOptions): ApiLife => {
  const { setting, projectId, engine, threads, clock, allow } = options;
  const { name, spec } = setting;
  const source = `openapi:${name}`;
  const by: Actor = { door: "config", tokenId: null, role: "tool", actor: source };
  const say = (level: "info" | "warn" | "error", message: string, fields: Readonly<Record<string, unknown>>): void =>
    options.log[level](message, { api: name, ...fields });

  const read = async (stop: AbortSignal): Promise<ImportOutcome> => {
    const isFetched = "url" in spec;
    const document = isFetched ? { text: await options.fetchDocument(spec.url, stop) } : spec;
    const { prefix, baseUrl, allowHosts, operations, auth, timeoutSeconds } = setting;
    const documentUrl = isFetched ? spec.url : undefined;
    const work: ImportWork = {
      options: { name, projectId, prefix, baseUrl, allowHosts, operations, auth, timeoutSeconds, documentUrl },
      allow,
      document,
    };
    return threads.run({ tenant: name, what: "importing the document", module: IMPORT_WORK, input: work });
  };

  const knownTools = async (): Promise<readonly KnownTool[]> => {
    const known = new Map<string, KnownTool>();
    for (const pending of [false, true])
      for await (const tool of allTools(engine, projectId, { pending }))
        if (tool.source === source || tool.pending?.source === source)
          known.set(tool.toolName, {
            toolName: tool.toolName,
            definitionHash: tool.definitionHash,
            status: tool.source === source ? tool.status : "deleted",
            pending: tool.pending,
          });
    return [...known.values()];
  };

  const register = async (outcome: ImportOutcome, stop: AbortSignal): Promise<void> => {
    const plan = planImport(outcome, await knownTools());
    const waits: string[] = [...plan.waiting];
    const refused = [...outcome.refused];
    let [added, changed] = [0, 0];
    for (let at = 0; at < plan.uploads.length && !stop.aborted; at += PAGE) {
      const page = plan.uploads.slice(at, at + PAGE);
      const results = await engine.tools.upsertTools(projectId, page, { source, by, waits: "url" in spec });
      results.forEach((result, index) => {
        const toolName = page[index]?.tool_name ?? "";
        if (result instanceof ToolplaneError) refused.push({ operation: toolName, reason: result.message, toolName });
        else if (result.outcome === "pending") waits.push(toolName);
        else if (result.outcome === "created") added += 1;
        else if (result.outcome === "replaced") changed += 1;
      });
    }
    for (const toolName of plan.deletes) await engine.tools.deleteTool(projectId, toolName, { by, byProgram: true });
    report(outcome, { ...plan, added, changed, waits, refused });
  };

  const report = (
    outcome: ImportOutcome,
    done: Pick<ReturnType<typeof planImport>, "deletes" | "gone" | "unchanged"> & {
      readonly added: number;
      readonly changed: number;
      readonly waits: readonly string[];
      readonly refused: ImportOutcome["refused"];
    },
  ): void => {
    for (const { reason, count, operations } of groupReasons(done.refused))
      say("warn", "operations of an API are left out", { reason, count, operations });
    for (const note of outcome.notes) say("info", "an API has operations of one name", { note });
    if (done.deletes.length > 0)
      say("info", "tools that the patterns of an API leave out now were deleted", { tools: namesOf(done.deletes) });
    if (done.gone.length > 0)
      say("warn", "operations are gone from the document of an API, or can no longer be imported; their tools stay", {
        tools: namesOf(done.gone),
        todo: `toolplane tools delete ${done.gone[0]}`,
      });
    if (done.waits.length > 0)
      say("warn", "tools of an API wait until a person accepts them", {
        count: done.waits.length,
        tools: namesOf(done.waits),
        todo: `toolplane tools list --pending, then toolplane tools accept ${setting.prefix ?? `${name}__`}*`,
      });
    const { added, changed, unchanged } = done;
    const counts = { operations: outcome.found, added, changed, unchanged, waiting: done.waits.length };
    const about = { ...counts, left_out: outcome.leftOut.length, refused: done.refused.length };
    if (added + changed + unchanged + done.waits.length > 0) say("info", "an API is imported", about);
    else say("warn", "an API has no tools: all its operations were refused or left out", about);
  };

  let said = "";
  const failed = (error: unknown): "again" | "over" => {
    const { code, message } = understandError(error, { keepMessage: true });
    // Said once per reason: an address that stays away would be named every ten minutes.
    if (message !== said)
      say("error", "an API cannot be imported; tools of earlier imports stay", { code, reason: message });
    said = message;
    return code === "bad_request" || code === "payload_too_large" || code === "auth_failed" ? "over" : "again";
  };

  return startTries({
    attempt: async (stop) => register(await read(stop), stop),
    failed,
    pause: PAUSE_MS,
    clock,
  });
};
