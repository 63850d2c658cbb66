// What a carrier gives up becomes a dead letter, like a message the postgres bus gives up: a person can see it and
// replay it. Anybody may have published it, so nothing about it is taken for granted: a letter that could not be written
// would come back for ever.

import type { LostMessage } from "@toolplane/bus";
import { HEADERS, storableText, tryParseSubject } from "@toolplane/protocol";
import type { Ids } from "../ports/ids.ts";
import type { Queryer } from "../sql/database.ts";
import { BURY_LOST } from "./bury-message.sql.ts";

/** Whose letter it is: the subject's project, also of a subject that is not quite one of ours. */
const projectOf = (subject: string): string => tryParseSubject(subject)?.projectId ?? subject.split(".")[2] ?? "";

export const createBury =
  ({ db, ids }: { readonly db: Queryer; readonly ids: Ids }) =>
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
    ]);
  };
