// When a project does not exist, the error says so, whatever was asked of it. The project is looked up only after something was
// not found, so a successful request costs nothing more.

import type { Engine } from "@toolplane/engine";
import { isToolplaneError, showName, ToolplaneError } from "@toolplane/protocol";

type Registry = Pick<Engine, "projects">;

export const noProject = (projectId: string): ToolplaneError =>
  new ToolplaneError("not_found", `there is no project ${showName(projectId)}`, {
    detail: { todo: "see which projects exist: toolplane projects list, or GET /projects" },
  });

export const refuseUnknownProject = async ({ projects }: Registry, projectId: string): Promise<void> => {
  if ((await projects.getProject(projectId)) === undefined) throw noProject(projectId);
};

/** The error for a thing that was not found: when its project does not exist, the error says that instead. */
export const explainNotFound = async (
  error: unknown,
  { projects }: Registry,
  projectId: string | undefined,
): Promise<unknown> => {
  if (projectId === undefined || !isToolplaneError(error) || error.code !== "not_found") return error;
  // This lookup is an extra: when it fails, the original error stands.
  const project = await projects.getProject(projectId).catch(() => null);
  return project === undefined ? noProject(projectId) : error;
};
