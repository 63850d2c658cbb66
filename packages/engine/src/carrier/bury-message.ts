// A message that a carrier gives up becomes a dead letter, like a message of the postgres bus: a person can see it and replay
// it. Any user of the carrier may have published it, so everything about it is checked: a letter that could not be stored would
// come back for ever. A message that comes back because its letter took too long to store has that letter already.

import type { LostMessage } from "@toolplane/bus";
import { HEADERS, storableText, tryParseSubject } from "@toolplane/protocol";
import type { Ground } from "../ports/ground.ts";
import { BURY_LOST } from "./bury-message.sql.ts";

/** The project of the letter: the subject's project, also of a subject that is not quite valid. */
const projectOf = (subject: string): string => tryParseSubject(subject)?.projectId ?? subject.split(".")[2] ?? "";

export const createBury =
  ({ db, ids }: Pick<Ground, "db" | "ids">) =>
  async (lost: LostMessage): Promise<void> => {
    const call = lost.headers[HEADERS.toolCallId];
    await db.query(BURY_LOST, [
      storableText(projectOf(lost.subject)),
      `dead_${ids.uuid()}`,
      call === undefined ? null : storableText(call),
      storableText(lost.subject),
      storableText(JSON.stringify(lost.headers)),
      storableText(lost.payload),
      lost.code,
      storableText(lost.reason),
      lost.attempts,
      storableText(lost.lostId),
    ]);
  };
