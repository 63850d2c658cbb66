// What a caller may know of itself: its rights, and the projects it may see.

import type { Engine } from "@toolplane/engine";
import type { Caller } from "./route.ts";

/** The first of them; GET /projects has the others. */
const MAX_PROJECTS = 500;

const projectsOf = async (engine: Pick<Engine, "projects">, projectId: string | null) => {
  if (projectId === null) return (await engine.projects.listProjects({ limit: MAX_PROJECTS })).items;
  const own = await engine.projects.getProject(projectId);
  return own === undefined ? [] : [own];
};

export const whoamiOf = async (engine: Pick<Engine, "projects">, { token, session }: Caller) => ({
  role: token.role,
  project: token.projectId,
  actor: token.actorId,
  targets: token.targets,
  projects: (await projectsOf(engine, token.projectId)).map(({ projectId, title }) => ({
    project_id: projectId,
    name: title,
  })),
  ...(session === undefined ? {} : { session: { expires_at: session.expiresAt.toISOString() } }),
});
