// A command that lists: no arguments, a page of one route, a table.

import type { Body } from "@toolplane/sdk/client";
import type { Command, CommandContext } from "./command.ts";
import { EXIT } from "./exit-code.ts";
import type { Column } from "./output.ts";
import { showPage } from "./page.ts";

type Query = Readonly<Record<string, string | undefined>>;

export interface ListDraft extends Pick<Command, "name" | "options" | "statuses" | "summary"> {
  readonly path: (context: CommandContext) => string;
  /** Beside the limit and the cursor. */
  readonly query?: (context: CommandContext) => Query;
  readonly columns: readonly Column<Body>[];
  /** What to say of an empty list. */
  readonly empty: (context: CommandContext) => string;
}

export const listCommand = ({ name, options, statuses, summary, path, query, columns, empty }: ListDraft): Command => ({
  name,
  usage: "",
  least: 0,
  most: 0,
  options,
  statuses,
  summary,
  async run(context) {
    const { limit, cursor } = context.flags;
    const page = await context.client.request({ path: path(context), query: { limit, cursor, ...query?.(context) } });
    showPage(context, page, { empty: empty(context), columns });
    return EXIT.ok;
  },
});
