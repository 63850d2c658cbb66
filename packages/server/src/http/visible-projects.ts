// The projects that a token may see: all of them for an administrator, its own for every other token.

import type { Engine } from "@toolplane/engine";
import { keyOfCursor } from "./page-query.ts";
import type { Caller } from "./route.ts";

type Listed = ReturnType<Engine["projects"]["listProjects"]>;

export const visibleProjects = async (
  { projects }: Pick<Engine, "projects">,
  { token }: Caller,
  page: { readonly limit?: number | undefined; readonly cursor?: string | undefined } = {},
): Listed => {
  if (token.projectId === null) return projects.listProjects(page);
  const after = keyOfCursor(page.cursor) ?? "";
  const project = await projects.getProject(token.projectId);
  return { items: project === undefined || project.projectId <= after ? [] : [project] };
};
