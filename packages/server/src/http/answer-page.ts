// A page of a project's list. An empty one is the answer of a project that is there.

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
