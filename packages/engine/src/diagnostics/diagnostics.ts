// What a program said when its tool failed: name, message, stack. It helps only the operator, so it is kept beside the
// call and never in a card. The service removes secrets from it before sending it (I8).
//   DG1. It never blocks a result: diagnostics that are too large are cut, not refused.
//   DG2. Diagnostics are stored only with the result that settles the call, in the same transaction. A call that succeeds costs nothing more.

import { storableText } from "@toolplane/protocol";
import type { CallKey } from "../calls/call.ts";
import type { Queryer } from "../sql/database.ts";
import { bindDiagnostics, READ_DIAGNOSTICS, WRITE_DIAGNOSTICS } from "./diagnostics.sql.ts";

export interface Diagnostics {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
}

const MAX_CHARS = { name: 200, message: 2_000, stack: 16_000 } as const;

const cut = (key: CallKey, { name, message, stack }: Diagnostics) => ({
  projectId: key.projectId,
  toolCallId: key.toolCallId,
  name: storableText(name, MAX_CHARS.name),
  message: storableText(message, MAX_CHARS.message),
  stack: storableText(stack, MAX_CHARS.stack),
});

export const writeDiagnostics = async (
  db: Queryer,
  said: readonly { readonly key: CallKey; readonly diagnostics: Diagnostics }[],
): Promise<void> => {
  if (said.length === 0) return;
  await db.query(WRITE_DIAGNOSTICS, bindDiagnostics(said.map(({ key, diagnostics }) => cut(key, diagnostics))));
};

export const readDiagnostics = async (
  db: Queryer,
  { projectId, toolCallId }: CallKey,
): Promise<Diagnostics | undefined> => (await db.query<Diagnostics>(READ_DIAGNOSTICS, [projectId, toolCallId]))[0];
