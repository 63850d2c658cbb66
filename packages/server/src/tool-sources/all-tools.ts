// Every tool of a project, page by page: a source of tools compares them with what it offers now.

import type { Engine, RegisteredTool } from "@toolplane/engine";

const PAGE = 200;

export async function* allTools(
  { tools }: Pick<Engine, "tools">,
  projectId: string,
  which: { readonly pending?: boolean } = {},
): AsyncGenerator<RegisteredTool> {
  let cursor: string | undefined;
  do {
    const page = await tools.listTools(projectId, { ...which, limit: PAGE, cursor });
    yield* page.items;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}
