// What the caller is: its role, whose it is, and what it reaches.

import { EVERYBODY, type Route, route } from "../http/route.ts";
import { whoamiBody, whoamiOf } from "../http/whoami.ts";

export const whoamiRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/whoami",
    roles: EVERYBODY,
    gives: "self",
    summary: "The role, project, actor and targets of the token, and the projects it may see.",
    answers: { 200: whoamiBody },
    handle: async ({ engine, caller, reply }) => reply(200, await whoamiOf(engine, caller)),
  }),
];
