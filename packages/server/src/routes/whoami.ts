// What the caller's token is: its role, whose it is, and what it reaches.

import { ROLES } from "@toolplane/engine";
import { z } from "zod";
import { type BodyOf, text, textOrNull, time } from "../http/answers.ts";
import { EVERYBODY, type Route, type RouteCall, route } from "../http/route.ts";
import { visibleProjects } from "../http/visible-projects.ts";

/** As many as a page of a list has; `GET /projects` gives the rest. */
const MOST_PROJECTS = 500;

const whoamiShape = z
  .strictObject({
    role: z.enum(ROLES),
    project: textOrNull.meta({ description: "The only project that the token reaches; null: every project." }),
    actor: textOrNull,
    targets: z.array(text),
    projects: z.array(z.strictObject({ project_id: text, name: text.optional() })),
    session: z.strictObject({ expires_at: time }).optional().meta({ description: "Of a browser that is logged in." }),
  })
  .meta({ id: "WhoAmI" });

const whoamiBody = async ({
  engine,
  caller,
}: Pick<RouteCall<unknown, unknown>, "engine" | "caller">): Promise<BodyOf<typeof whoamiShape>> => {
  const { token } = caller;
  const { items } = await visibleProjects(engine, caller, { limit: MOST_PROJECTS });
  return {
    role: token.role,
    project: token.projectId,
    actor: token.actorId,
    targets: token.targets,
    projects: items.map(({ projectId, title }) => ({ project_id: projectId, name: title })),
  };
};

export const whoamiRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/whoami",
    roles: EVERYBODY,
    gives: "self",
    summary: "The role, project, actor and targets of the token, and the projects it may see.",
    answers: { 200: whoamiShape },
    handle: async (call) => call.reply(200, await whoamiBody(call)),
  }),
];
