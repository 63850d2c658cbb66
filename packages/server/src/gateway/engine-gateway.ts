// The gateway of services in this process: the sdk's port, answered by the engine without a network in between. The engine keeps
// the guarantees; this file adds retries (G3) and the service's own clock (G2).

import type { Actor, CallKey, Engine, LeasedCall, RegisteredTool } from "@toolplane/engine";
import { type CGContext, HEADERS, type HeaderMap, resolveOptions, ToolplaneError } from "@toolplane/protocol";
import { type ClaimedCommand, type PatienceDeps, type ToolGateway, withPatience } from "@toolplane/sdk/protocol";
import { type ClockOffset, NO_OFFSET } from "./clock-offset.ts";

export interface EngineGatewayOptions extends PatienceDeps {
  readonly engine: Pick<Engine, "calls" | "cards" | "definitions" | "tools" | "emitParts">;
  readonly projectId: string;
  /** Who speaks: `tool.<target>`. */
  readonly actorId: string;
  /** Who holds the leases, as people read it in `why`. */
  readonly holder: string;
  readonly offset?: ClockOffset | undefined;
}

/** A leased call as the sdk's runner takes it. */
export const commandOf = (leased: LeasedCall, offset: ClockOffset): ClaimedCommand => ({
  ...leased.command,
  lease: { id: leased.lease.id, expiresAt: leased.lease.expiresAt.getTime() - offset.aheadMs() },
  runDeadline: leased.runDeadline.getTime() - offset.aheadMs(),
  attempt: leased.attempt,
  once: leased.once,
  card: JSON.parse(leased.cardBody) as unknown,
  session: leased.session,
});

const registeredOf = ({ definition, definitionHash }: Pick<RegisteredTool, "definition" | "definitionHash">) => ({
  definitionHash,
  targetSubject: definition.target_subject,
  pin: resolveOptions(definition.options).pin,
});

/** The other gateways send this in headers: the context as it is. */
const saidBy = (context: CGContext): HeaderMap => ({
  ...context.headers,
  [HEADERS.projectId]: context.projectId,
  [HEADERS.channelId]: context.channelId,
  [HEADERS.agentId]: context.agentId,
  [HEADERS.turnId]: context.agentTurnId,
  [HEADERS.turnEpoch]: String(context.turnEpoch),
  [HEADERS.recursionDepth]: String(context.recursionDepth),
  [HEADERS.stepId]: context.stepId ?? "",
});

export const createEngineGateway = (options: EngineGatewayOptions): ToolGateway => {
  const { engine, projectId, actorId, holder, offset = NO_OFFSET } = options;
  const keyOf = (toolCallId: string): CallKey => ({ projectId, toolCallId });

  return {
    projectId,

    async claim({ target, max, waitMs, definitions, service: standing }, signal) {
      const leased = await engine.calls.claim(
        { projectId, target, max, holder, definitions, standing },
        waitMs,
        signal,
      );
      return leased.map((call) => commandOf(call, offset));
    },

    readCard: ({ cardId }, patience = {}) =>
      withPatience(options, patience, async () => (await engine.cards.getCards(projectId, [cardId]))[0]),

    heartbeat: ({ toolCallId, leaseId }, patience = {}) =>
      withPatience(options, patience, async () => {
        const { expiresAt, cancel } = await engine.calls.heartbeat({ ...keyOf(toolCallId), leaseId });
        return { expiresAt: (expiresAt?.getTime() ?? 0) - offset.aheadMs(), cancel };
      }),

    release: ({ toolCallId, leaseId }, patience = {}) =>
      withPatience(options, patience, () => engine.calls.release({ ...keyOf(toolCallId), leaseId })),

    settle: (settlement, patience = {}) =>
      withPatience(options, patience, () => {
        const { toolCallId, leaseId, status, result, error, definitionHash, sessionState, traceparent } = settlement;
        const { views, strippedControl, diagnostics } = settlement;
        const given = { status, result, error, definitionHash, sessionState, views, strippedControl };
        const key = keyOf(toolCallId);
        return engine.calls.settle({ ...key, actorId, leaseId, traceparent, outcome: { given }, diagnostics });
      }),

    putCard: ({ card, leaseId }, patience = {}) =>
      withPatience(options, patience, async () => {
        await engine.calls.putResultCard({ projectId, actorId, leaseId, card });
      }),

    async report({ target, payload, leaseId }, patience = {}) {
      const { toolCallId } = target;
      if (toolCallId === null) throw new ToolplaneError("protocol_violation", "a report names its call");
      const report = { ...keyOf(toolCallId), actorId, leaseId, payload, headers: saidBy(target) };
      return withPatience(options, patience, () => engine.calls.report(report));
    },

    sendParts({ toolCallId, parts }) {
      // G5: a watcher misses a part; the call loses nothing.
      engine.emitParts(keyOf(toolCallId), parts).catch(() => {});
    },

    readDefinition: ({ toolName, version }, patience = {}) =>
      withPatience(options, patience, async () => {
        const found = await engine.definitions.resolveVersion(projectId, toolName, version);
        return found?.definition;
      }),

    findTool: (name, patience = {}) =>
      withPatience(options, patience, async () => {
        const tool = await engine.tools.getTool(projectId, name);
        if (tool === undefined) return undefined;
        return registeredOf(tool);
      }),

    register: (definition, patience = {}) =>
      withPatience(options, patience, async () => {
        const target = actorId.slice("tool.".length);
        const by: Actor = { door: "service", tokenId: null, role: "tool", actor: actorId };
        const { inForce, outcome, version, definitionHash } = await engine.tools.upsertTool(projectId, definition, {
          source: `service:${target}`,
          by,
        });
        return {
          inForce: inForce === undefined ? undefined : registeredOf(inForce),
          sent: { version, definitionHash, isOlder: outcome === "older" },
          ...(outcome === "pending" ? { pending: { version, weakens: [] } } : {}),
        };
      }),
  };
};
