// A page of a list: the server's answer for programs, a table for people, and how to see more.

import { itemsOf, textOf } from "./body.ts";
import { type Body, pathOf } from "./client.ts";
import type { CommandContext } from "./command.ts";
import type { Column } from "./output.ts";

/** Rejects when there is no such project: an empty answer about a misspelt one would be a lie. */
export const requireProject = async ({ client, project }: CommandContext): Promise<void> => {
  await client.request({ path: pathOf("projects", project) });
};

export interface PageView {
  readonly columns: readonly Column<Body>[];
  /** What to say of an empty list. */
  readonly empty: string;
}

export const showPage = ({ output }: CommandContext, page: Body, { columns, empty }: PageView): void => {
  if (output.json) {
    output.data(page);
    return;
  }
  output.table(itemsOf(page), columns, empty);
  const next = textOf(page, "next_cursor");
  if (next !== undefined) output.note(`there is more: --cursor ${next}`);
};

/** A page of things of one project. */
export const showProjectPage = async (context: CommandContext, page: Body, view: PageView): Promise<void> => {
  if (itemsOf(page).length === 0) await requireProject(context);
  showPage(context, page, view);
};
