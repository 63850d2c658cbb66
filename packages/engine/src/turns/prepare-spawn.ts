// A spawn before the database is asked: refusals that need no database, and the ids that a second try must find.

import {
  canonicalText,
  isStorable,
  isToken,
  type JsonObject,
  parseToken,
  showName,
  ToolplaneError,
  violation,
} from "@toolplane/protocol";
import type { Sha256 } from "../calls/turn-chain.ts";
import { dashedUuid } from "../cards/boxes.ts";
import type { Ids } from "../ports/ids.ts";
import type { SpawnLookup } from "./spawn.sql.ts";
import type { SpawnRequest } from "./turn.ts";

/** A request with everything minted that a second try must find again. */
export interface SpawnItem {
  readonly request: SpawnRequest;
  readonly agentTurnId: string;
  readonly correlationId: string;
  readonly requestHash: string;
  readonly contextBoxId: string;
  readonly outputBoxId: string;
  readonly inboxId: string;
}

const MAX_CORRELATION_LENGTH = 255;
const MAX_DOCUMENT_BYTES = 256 * 1024;

const checkText = (name: string, text: string | undefined): void => {
  if (text === undefined) return;
  if (text === "" || text.length > MAX_CORRELATION_LENGTH || !isStorable(text))
    throw new ToolplaneError("bad_request", `${name} is 1 to ${MAX_CORRELATION_LENGTH} characters of well-formed text`);
};

/** A box alone, and the cards of a box alone, are the same request: the box that the caller named. */
const askedOf = ({ context, namedBoxIds: [named] = [], namedBoxIds }: SpawnRequest): JsonObject =>
  "boxId" in context || (context.instruction === "" && named !== undefined)
    ? { box_id: named ?? ("boxId" in context ? context.boxId : "") }
    : {
        instruction: context.instruction,
        inherit_box_ids: [...(namedBoxIds ?? context.inheritBoxIds ?? [])],
        result_fields: (context.resultFields ?? []).map(({ name, description }) => ({
          name,
          description: description ?? "",
        })),
      };

/** The request itself. The two ids of a person's action are names, and not part of it. */
const payloadOf = ({ kind, payload = {} }: SpawnRequest): JsonObject => {
  if (kind !== "ui_action") return payload;
  const { action_id: _action, message_id: _message, ...asked } = payload;
  return asked;
};

/** Refuses what no database is needed to refuse, and mints the ids. */
export const prepareSpawn = (request: SpawnRequest, ids: Ids, sha256: Sha256): SpawnItem => {
  const { context, kind = "turn" } = request;
  if (!isToken(request.projectId))
    throw new ToolplaneError("not_found", `there is no project ${showName(request.projectId)}`);
  if (!isToken(request.agentId))
    throw new ToolplaneError(
      "not_found",
      `project ${request.projectId} has no agent ${showName(request.agentId)}: register it first`,
    );
  if (request.sourceAgentId === "") throw violation("an intent names its source agent");
  checkText("correlation_id", request.correlationId);
  checkText("alias_id", request.aliasId);
  checkText("display_name", request.displayName);
  if (request.channelId !== undefined) parseToken(request.channelId, "channel_id");
  const isBare = !("boxId" in context) && context.instruction.trim() === "" && context.inheritCardIds === undefined;
  if (isBare && kind === "turn")
    throw new ToolplaneError("bad_request", "a turn needs an instruction: say what the agent shall do");
  for (const document of [request.payload, request.runtimeConfig, request.metadata])
    canonicalText(document ?? {}, { maxBytes: MAX_DOCUMENT_BYTES });
  const agentTurnId = `turn_${ids.uuid()}`;
  const asked = { agent_id: request.agentId, kind, context: askedOf(request), payload: payloadOf(request) };
  return {
    request,
    agentTurnId,
    correlationId: request.correlationId ?? agentTurnId,
    requestHash: sha256(canonicalText(asked)),
    contextBoxId: "boxId" in context ? context.boxId : dashedUuid(ids.uuid()),
    outputBoxId: request.outputBoxId ?? dashedUuid(ids.uuid()),
    inboxId: `inbox_${ids.uuid()}`,
  };
};

export const lookupOf = ({ request, correlationId }: SpawnItem): SpawnLookup => ({
  projectId: request.projectId,
  agentId: request.agentId,
  sourceAgentId: request.sourceAgentId,
  correlationId,
  aliasId: request.aliasId ?? null,
  lineageTurnId: request.lineage?.agentTurnId ?? null,
  contextBoxId: "boxId" in request.context ? request.context.boxId : null,
  outputBoxId: request.outputBoxId ?? null,
  profileBoxId: request.profileBoxId ?? null,
});
