// A project that is not there is named as such, whatever was asked of it. It is only looked for when nothing was found: what is
// found belongs to a project that exists, and costs nothing more.

import type { Engine } from "@toolplane/engine";
import { isToolplaneError, showName, ToolplaneError } from "@toolplane/protocol";

type Registry = Pick<Engine, "projects">;

export const noProject = (projectId: string): ToolplaneError =>
  new ToolplaneError("not_found", `there is no project ${showName(projectId)}`, {
    detail: { todo: "see which there are: toolplane projects list, or GET /projects" },
  });

export const refuseUnknownProject = async ({ projects }: Registry, projectId: string): Promise<void> => {
  if ((await projects.getProject(projectId)) === undefined) throw noProject(projectId);
};

/** Something was not found, in a project that may be missing itself. */
export const explainNotFound = async (
  error: unknown,
  { projects }: Registry,
  projectId: string | undefined,
): Promise<unknown> => {
  if (projectId === undefined || !isToolplaneError(error) || error.code !== "not_found") return error;
  // Whether it is there is a question beside the one that was asked: no answer to it changes nothing.
  const project = await projects.getProject(projectId).catch(() => null);
  return project === undefined ? noProject(projectId) : error;
};
