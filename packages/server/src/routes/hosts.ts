// The tool hosts of a project: what runs, what does not and why.

import { hostBody, hostShape, planElsewhere } from "../hosts/host-body.ts";
import type { HostView } from "../hosts/host-life.ts";
import { answerPage } from "../http/answer-page.ts";
import { pageOf } from "../http/answers.ts";
import { pageOfKnown, pageQuery } from "../http/page-query.ts";
import { PEOPLE, type Route, route } from "../http/route.ts";

export const hostRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/projects/:project/hosts",
    roles: PEOPLE,
    gives: "work",
    summary: "The tool hosts and MCP servers of the configuration: what runs, what does not and why.",
    query: pageQuery,
    answers: { 200: pageOf(hostShape) },
    handle: async (call) => {
      const { toolHosts, processes, params } = call;
      const projectId = params.project ?? "";
      const { items: views, nextCursor } = pageOfKnown(
        toolHosts.list(projectId),
        ({ setting }) => setting.name,
        call.query,
      );
      const known = views.some(({ phase }) => phase === "elsewhere") ? await processes.list() : undefined;
      const todoOf = ({ setting: { target }, phase }: HostView): string | undefined =>
        phase === "elsewhere" ? planElsewhere(target, known) : toolHosts.problemOf(projectId, target)?.todo;
      return answerPage(
        call,
        views.map((view) => hostBody(view, todoOf(view))),
        nextCursor,
      );
    },
  }),
];
