// Dead letters: work that the engine gave up and that a person may want to try again. Replaying a call makes a new one with
// `retry_of`; the old one stays settled (I1), and its turn gets nothing. Replaying twice gives the same new call: the letter's
// id is its idempotency key.

import { type JsonObject, showName, ToolplaneError, tryParseSubject } from "@toolplane/protocol";
import { type Actor, recordActs } from "../audit/audit.ts";
import type { CallRequest, Dispatched } from "../calls/call-request.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Faults } from "../ports/faults.ts";
import { parsePage } from "../registry/page.ts";
import type { Database, Statement } from "../sql/database.ts";
import {
  DEAD_OF_CALL,
  type DeadLetterStateRow,
  LIST_DEAD,
  MARK_REPLAYED,
  READ_CALL_CARD,
  READ_DEAD,
  REPUBLISH,
} from "./dead-letters.sql.ts";

export interface DeadLetter {
  readonly projectId: string;
  readonly deadLetterId: string;
  readonly kind: "call" | "message";
  readonly toolCallId: string | null;
  readonly subject: string;
  readonly code: string;
  readonly reason: string;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly replayedAt: Date | null;
  readonly replayedAs: string | null;
  /** What was to be sent, as text. */
  readonly headers: string;
  readonly payload: string;
}

export interface RetryAsk extends Pick<CallRequest, "idempotencyKey" | "saidDepth"> {
  readonly by?: Actor | undefined;
}

export interface DeadLetters {
  /** Long headers and payloads are left out: `get` has them. */
  list(
    projectId: string,
    page?: { readonly before?: string | undefined; readonly limit?: number | undefined },
  ): Promise<readonly DeadLetter[]>;
  get(projectId: string, deadLetterId: string): Promise<DeadLetter>;
  ofCall(projectId: string, toolCallId: string): Promise<DeadLetter | undefined>;
  /** The new call, or the message that was put back. */
  replay(projectId: string, deadLetterId: string, by?: Actor): Promise<{ readonly replayedAs: string }>;
  /** A new call with the arguments its caller once sent; works for any call. */
  retryCall(projectId: string, toolCallId: string, asked: RetryAsk): Promise<Dispatched>;
}

interface CallCardRow {
  readonly tool_name: string;
  readonly agent_id: string;
  readonly channel_id: string;
  readonly body: string;
}

const MAX_PAGE = 500;
const DEFAULT_PAGE = 100;

const letterOf = (row: DeadLetterStateRow): DeadLetter => ({
  projectId: row.project_id,
  deadLetterId: row.dead_letter_id,
  kind: row.kind,
  toolCallId: row.tool_call_id,
  subject: row.subject,
  code: row.code,
  reason: row.reason,
  attempts: row.attempts,
  createdAt: row.created_at,
  replayedAt: row.replayed_at,
  replayedAs: row.replayed_as,
  headers: row.headers,
  payload: row.payload,
});

/** The caller's arguments: the card's arguments without what the definition added. */
const callerArguments = (cardBody: string): JsonObject => {
  const card = JSON.parse(cardBody) as { content: { arguments: JsonObject }; metadata: JsonObject };
  const added = [card.metadata.tool_args_defaults_applied, card.metadata.tool_args_fixed_applied].flatMap((names) =>
    Array.isArray(names) ? names : [],
  );
  return Object.fromEntries(Object.entries(card.content.arguments).filter(([name]) => !added.includes(name)));
};

const isCommand = ({ kind, subject }: DeadLetter): boolean =>
  kind === "message" && tryParseSubject(subject)?.category === "cmd";

const noBus = ({ deadLetterId }: DeadLetter): ToolplaneError =>
  new ToolplaneError(
    "conflict",
    `dead letter ${deadLetterId} is a command, and this plane has no bus beside its database, so no service would take it`,
  );

export const createDeadLetters = (deps: {
  readonly db: Database;
  readonly doorbell: Doorbell;
  readonly faults: Faults;
  /** A bus beside the database carries commands. */
  readonly external: boolean;
  readonly dispatch: (request: CallRequest) => Promise<Dispatched>;
}): DeadLetters => {
  const { db, faults } = deps;

  const get = async (projectId: string, deadLetterId: string): Promise<DeadLetter> => {
    const [row] = await db.query<DeadLetterStateRow>(READ_DEAD, [projectId, deadLetterId]);
    if (row === undefined)
      throw new ToolplaneError("not_found", `there is no dead letter ${showName(deadLetterId)} in this project`);
    return letterOf(row);
  };

  const retryCall: DeadLetters["retryCall"] = async (projectId, toolCallId, { idempotencyKey, by, saidDepth }) => {
    const [row] = await db.query<CallCardRow>(READ_CALL_CARD, [projectId, toolCallId]);
    if (row === undefined) throw new ToolplaneError("not_found", `there is no call ${toolCallId} in this project`);
    return deps.dispatch({
      projectId,
      toolName: row.tool_name,
      agentId: row.agent_id,
      channelId: row.channel_id,
      arguments: callerArguments(row.body),
      retryOf: toolCallId,
      saidDepth,
      idempotencyKey,
      actor: by,
    });
  };

  /** Marks the letter, and records who replayed it if this was the first time. */
  const mark = (statement: Statement, letter: DeadLetter, replayedAs: string, by: Actor | undefined): Promise<void> =>
    db.transaction(async (tx) => {
      const { projectId, deadLetterId, kind } = letter;
      const marked = await tx.query(statement, [projectId, deadLetterId, replayedAs]);
      if (marked.length === 0) return;
      const detail = { kind, replayed_as: replayedAs };
      await recordActs(tx, by, [{ projectId, act: "dead_letter.replayed", subject: deadLetterId, detail }]);
    });

  return {
    async list(projectId, page = {}) {
      const { limit } = parsePage({ limit: Math.min(page.limit ?? DEFAULT_PAGE, MAX_PAGE) });
      const rows = await db.query<DeadLetterStateRow>(LIST_DEAD, [projectId, page.before ?? null, limit]);
      return rows.map(letterOf);
    },
    get,
    async ofCall(projectId, toolCallId) {
      const [row] = await db.query<DeadLetterStateRow>(DEAD_OF_CALL, [projectId, toolCallId]);
      return row === undefined ? undefined : letterOf(row);
    },
    async replay(projectId, deadLetterId, by) {
      const letter = await get(projectId, deadLetterId);
      if (letter.replayedAs !== null) return { replayedAs: letter.replayedAs };
      if (!deps.external && isCommand(letter)) throw noBus(letter);
      await faults.at("replay:before-commit");
      if (letter.kind === "message") {
        await mark(REPUBLISH, letter, `replay-${deadLetterId}`, by);
        await faults.at("replay:after-commit");
        deps.doorbell.ring("messages");
        return { replayedAs: `replay-${deadLetterId}` };
      }
      // Two steps, each idempotent: a crash between them finds the same call again by its key.
      const { toolCallId } = await retryCall(projectId, letter.toolCallId ?? "", {
        idempotencyKey: `replay-${deadLetterId}`,
      });
      await faults.at("replay:after-commit");
      await mark(MARK_REPLAYED, letter, toolCallId, by);
      await faults.at("replay:after-mark");
      return { replayedAs: toolCallId };
    },
    retryCall,
  };
};
