// A page of a project's list. An empty page is answered only after checking that the project exists.

import type { Engine } from "@toolplane/engine";
import type { Context } from "hono";
import { answerList } from "./answer-list.ts";
import { refuseUnknownProject } from "./known-project.ts";

export interface ListCall {
  readonly engine: Pick<Engine, "projects">;
  readonly params: Readonly<Record<string, string>>;
  readonly context: Context;
}

export const answerPage = async (
  { engine, params, context }: ListCall,
  items: readonly unknown[],
  nextCursor?: string | null,
): Promise<Response> => {
  if (items.length === 0) await refuseUnknownProject(engine, params.project ?? "");
  return answerList(context, "items", items, { next_cursor: nextCursor ?? null });
};
