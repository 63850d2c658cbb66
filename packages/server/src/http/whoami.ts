// What a caller may know of itself: its rights, and the projects it may see.

import { type Engine, ROLES } from "@toolplane/engine";
import { z } from "zod";
import { type BodyOf, text, textOrNull, time } from "./answers.ts";
import type { Caller } from "./route.ts";
import { visibleProjects } from "./visible-projects.ts";

/** The first of them; GET /projects has the others. */
const MAX_PROJECTS = 500;

export const whoamiBody = z
  .strictObject({
    role: z.enum(ROLES),
    project: textOrNull.meta({ description: "The only project that the token reaches; null: every project." }),
    actor: textOrNull,
    targets: z.array(text),
    projects: z.array(z.strictObject({ project_id: text, name: text.optional() })),
    session: z.strictObject({ expires_at: time }).optional().meta({ description: "Of a browser that is logged in." }),
  })
  .meta({ id: "WhoAmI" });

export const whoamiOf = async (
  engine: Pick<Engine, "projects">,
  caller: Caller,
): Promise<BodyOf<typeof whoamiBody>> => {
  const { token, session } = caller;
  const { items } = await visibleProjects(engine, caller, { limit: MAX_PROJECTS });
  return {
    role: token.role,
    project: token.projectId,
    actor: token.actorId,
    targets: token.targets,
    projects: items.map(({ projectId, title }) => ({ project_id: projectId, name: title })),
    ...(session === undefined ? {} : { session: { expires_at: session.expiresAt.toISOString() } }),
  };
};
