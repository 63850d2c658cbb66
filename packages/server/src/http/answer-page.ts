// A page of a project's list. An empty page is answered only after checking that the project exists.

import type { Engine } from "@toolplane/engine";
import type { z } from "zod";
import { answerList, type ListAnswer } from "./answer-list.ts";
import type { BodyOf, pageOf } from "./answers.ts";
import { refuseUnknownProject } from "./known-project.ts";

type PageSchema<Item extends z.ZodType> = ReturnType<typeof pageOf<Item>>;

export interface PageAnswer<Item extends z.ZodType> extends ListAnswer<{ readonly 200: PageSchema<Item> }> {}

export interface ListCall<Item extends z.ZodType> extends PageAnswer<Item> {
  readonly engine: Pick<Engine, "projects">;
  readonly params: Readonly<Record<string, string>>;
}

/** A page of a list that belongs to no project. */
export const answerPlanePage = <Item extends z.ZodType>(
  call: PageAnswer<Item>,
  items: readonly BodyOf<Item>[],
  nextCursor?: string | null,
): Promise<Response> => answerList(call, "items", items as never, { next_cursor: nextCursor ?? null } as never);

export const answerPage = async <Item extends z.ZodType>(
  call: ListCall<Item>,
  items: readonly BodyOf<Item>[],
  nextCursor?: string | null,
): Promise<Response> => {
  if (items.length === 0) await refuseUnknownProject(call.engine, call.params.project ?? "");
  return answerPlanePage(call, items, nextCursor);
};
