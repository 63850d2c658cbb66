// A page of a project's list. An empty one is the answer of a project that is there.

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
