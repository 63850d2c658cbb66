// A page of a list: the server's answer for programs, a table for people, and how to see more.

import type { Body } from "@toolplane/sdk/client";
import { itemsOf, textOf } from "./body.ts";
import type { CommandContext } from "./command.ts";
import type { Column } from "./output.ts";

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
