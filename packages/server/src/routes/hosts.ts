// The tool hosts of a project: what runs, what does not and why.

import { hostBody } from "../hosts/host-body.ts";
import { READERS, type Route, route } from "../http/route.ts";

export const hostRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/projects/:project/hosts",
    roles: READERS,
    handle: ({ toolHosts, params, context }) =>
      context.json({ items: toolHosts.list(params.project ?? "").map(hostBody) }),
  }),
];
