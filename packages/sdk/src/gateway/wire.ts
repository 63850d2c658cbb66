// The bodies of the gateway's operations, the same over HTTP and NATS. Answers are checked like any foreign text. Unknown keys
// are ignored, because a newer server may send more. The runner checks the command itself; here only the lease must be readable.

import {
  HASHED_FIELDS,
  type HeaderMap,
  isFilled,
  isRecord,
  type JsonObject,
  type ToolDefinition,
  ToolplaneError,
} from "@toolplane/protocol";
import type {
  Beat,
  CallParts,
  ClaimedCommand,
  RegisteredTool,
  Registration,
  ServiceResult,
  Settled,
} from "./gateway.ts";

export interface Answer {
  readonly body: unknown;
  /** How far the server's clock is ahead of ours, in milliseconds; 0 when it does not say. */
  readonly clockAheadMs: number;
}

const unreadable = (what: string): ToolplaneError =>
  new ToolplaneError("upstream_unavailable", `the server's answer has no readable ${what}`);

/** Server time as text to this process's clock (G2). */
const localTime = (text: unknown, answer: Answer): number | undefined => {
  const time = typeof text === "string" ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time - answer.clockAheadMs;
};

const readHeaders = (headers: unknown): HeaderMap =>
  isRecord(headers)
    ? Object.fromEntries(
        Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
      )
    : {};

const readCommand = (item: unknown, answer: Answer): ClaimedCommand | undefined => {
  if (!isRecord(item) || !isRecord(item.lease) || !isFilled(item.lease.id)) return undefined;
  const expiresAt = localTime(item.lease.expires_at, answer);
  if (expiresAt === undefined) return undefined;
  return {
    subject: typeof item.subject === "string" ? item.subject : "",
    headers: readHeaders(item.headers),
    payload: item.payload,
    lease: { id: item.lease.id, expiresAt },
    runDeadline: localTime(item.run_deadline, answer),
    attempt: typeof item.attempt === "number" && item.attempt >= 1 ? Math.trunc(item.attempt) : undefined,
    once: item.once === true || undefined,
    session: isRecord(item.session) ? (item.session as JsonObject) : undefined,
    card: item.card,
  };
};

/** One command under the lease that was asked for. */
export const readLeased = (answer: Answer): ClaimedCommand => {
  const command = readCommand(answer.body, answer);
  if (command === undefined) throw unreadable("lease");
  return command;
};

/** Commands whose lease cannot be read are left out: they cannot be run, renewed or given back. */
export const readClaim = (answer: Answer): readonly ClaimedCommand[] => {
  if (!isRecord(answer.body) || !Array.isArray(answer.body.commands)) throw unreadable("list of commands");
  return answer.body.commands
    .map((item: unknown) => readCommand(item, answer))
    .filter((command) => command !== undefined);
};

export const readBeat = (answer: Answer): Beat => {
  const { body } = answer;
  if (!isRecord(body)) throw unreadable("heartbeat");
  const cancel = body.cancel === true;
  const expiresAt = localTime(body.expires_at, answer);
  // A call that is over has no lease, and `cancel` needs none.
  if (expiresAt === undefined && !cancel) throw unreadable("lease");
  return { expiresAt: expiresAt ?? 0, cancel };
};

export const readSettled = ({ body }: Answer): Settled => {
  const cardId = isRecord(body) ? body.tool_result_card_id : undefined;
  if (!isRecord(body) || (cardId !== null && !isFilled(cardId))) throw unreadable("result card id");
  return { toolResultCardId: cardId, idempotent: body.idempotent === true };
};

export const readRegistered = ({ body }: Answer): RegisteredTool => {
  if (!isRecord(body) || !isFilled(body.definition_hash)) throw unreadable("definition hash");
  return {
    definitionHash: body.definition_hash,
    targetSubject: typeof body.target_subject === "string" ? body.target_subject : "",
    ...(isRecord(body.options) && body.options.pin === "strict" ? { pin: "strict" as const } : {}),
  };
};

/** The fields of the definition; whether they are what the call was made with is decided by their hash. */
export const readDefinition = ({ body }: Answer): ToolDefinition => {
  if (!isRecord(body) || !isFilled(body.definition_hash)) throw unreadable("definition");
  return Object.fromEntries(HASHED_FIELDS.map((field) => [field, body[field] ?? null])) as unknown as ToolDefinition;
};

const readSent = ({ sent, outcome }: Readonly<Record<string, unknown>>): Pick<Registration, "sent"> =>
  isRecord(sent) && isFilled(sent.definition_hash)
    ? {
        sent: {
          version: Number(sent.version),
          definitionHash: sent.definition_hash,
          isOlder: outcome === "older",
        },
      }
    : {};

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];

export const readRegistration = (answer: Answer): Registration => {
  const { body } = answer;
  // The definition was accepted, whatever else the answer holds; without a hash in it our own is used.
  if (!isRecord(body)) return { inForce: undefined };
  const isAbsent = body.status === "deleted" || body.status === "pending" || !isFilled(body.definition_hash);
  const inForce = isAbsent ? undefined : readRegistered(answer);
  const said = { inForce, ...readSent(body), warnings: textsOf(body.warnings) };
  if (body.outcome !== "pending") return said;
  const pending = isRecord(body.pending) ? body.pending : {};
  return { ...said, pending: { version: Number(pending.version), weakens: textsOf(pending.weakens) } };
};

export const serviceResultBody = (settlement: ServiceResult): Record<string, unknown> => ({
  ...(settlement.leaseId === undefined ? {} : { lease: settlement.leaseId }),
  status: settlement.status,
  result: settlement.result,
  ...(settlement.error === null ? {} : { error: settlement.error }),
  ...(settlement.sessionState === undefined ? {} : { session_state: settlement.sessionState }),
  ...(settlement.views === undefined ? {} : { views: settlement.views }),
  // Only a few short names: the plane's audit names the keys and does not store their values.
  ...(settlement.strippedControl === undefined
    ? {}
    : { control_stripped: settlement.strippedControl.slice(0, 8).map((key) => key.slice(0, 64)) }),
  ...(settlement.diagnostics === undefined ? {} : { diagnostics: settlement.diagnostics }),
  ...(settlement.definitionHash === undefined ? {} : { definition_hash: settlement.definitionHash }),
});

export const partsBody = (
  { leaseId }: Pick<CallParts, "leaseId">,
  parts: CallParts["parts"],
): Record<string, unknown> => ({
  ...(leaseId === undefined ? {} : { lease: leaseId }),
  parts,
});

/** In addition to the protocol's headers: the lease under which a holder writes its card and its report. */
export const leaseHeader = (leaseId: string | undefined): HeaderMap =>
  leaseId === undefined ? {} : { "CG-Lease": leaseId };
