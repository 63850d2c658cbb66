// The tool hosts of a project: what runs, what does not and why.

import { hostBody, planElsewhere } from "../hosts/host-body.ts";
import type { HostView } from "../hosts/host-life.ts";
import { answerPage } from "../http/answer-page.ts";
import { PEOPLE, type Route, route } from "../http/route.ts";

export const hostRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/projects/:project/hosts",
    roles: PEOPLE,
    gives: "work",
    handle: async (call) => {
      const { toolHosts, processes, params } = call;
      const projectId = params.project ?? "";
      const views = toolHosts.list(projectId);
      const known = views.some(({ phase }) => phase === "elsewhere") ? await processes.list() : undefined;
      const todoOf = ({ setting: { target }, phase }: HostView): string | undefined =>
        phase === "elsewhere" ? planElsewhere(target, known) : toolHosts.problemOf(projectId, target)?.todo;
      return answerPage(
        call,
        views.map((view) => hostBody(view, todoOf(view))),
      );
    },
  }),
];
