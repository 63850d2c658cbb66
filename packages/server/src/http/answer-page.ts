// A page of a project's list. An empty page is answered only after checking that the project exists.

import type { Engine } from "@toolplane/engine";
import { answerList, type ListAnswer } from "./answer-list.ts";
import { refuseUnknownProject } from "./known-project.ts";

export interface ListCall extends ListAnswer {
  readonly engine: Pick<Engine, "projects">;
  readonly params: Readonly<Record<string, string>>;
}

export const answerPage = async (
  call: ListCall,
  items: readonly unknown[],
  nextCursor?: string | null,
): Promise<Response> => {
  if (items.length === 0) await refuseUnknownProject(call.engine, call.params.project ?? "");
  return answerList(call, "items", items, { next_cursor: nextCursor ?? null });
};
