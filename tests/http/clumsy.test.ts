// A clumsy user at every route of the table: what is wrong is said in one sentence, with the status it has, and nothing changes.

import { routes } from "@toolplane/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";

let http: HttpStack;
beforeAll(async () => {
  http = await startHttpStack();
});
afterAll(() => http[Symbol.asyncDispose]());

/** The path of a route, with ids that nothing has. */
const pathOf = (path: string, project: string): string =>
  path.replace(":project", project).replaceAll(/:[a-z]+/g, "nothing");

const ofProjects = routes.filter(({ path }) => path.startsWith("/projects/:project"));

/** A body that is right, where one is needed: what is wrong is the project. */
const BODIES: Readonly<Record<string, unknown>> = {
  "POST /projects/:project/calls": { tool_name: "safe" },
  "POST /projects/:project/calls/:call/heartbeat": { lease: "x" },
  "POST /projects/:project/calls/:call/release": { lease: "x" },
  "POST /projects/:project/calls/:call/result": { status: "success", result: 1 },
  "POST /projects/:project/calls/:call/parts": { lease: "x", parts: [{ index: 0, part: 1 }] },
  "POST /projects/:project/cards/batch": { card_ids: ["nothing"] },
  "POST /projects/:project/boxes/batch": { box_ids: ["nothing"] },
  "POST /projects/:project/agents": { agent_id: "a", profile_name: "nothing" },
  "POST /projects/:project/agents/:agent/turns": { instruction: "do it" },
  "POST /projects/:project/profiles": { name: "nothing", worker_target: "agents", prompt_definition: "x" },
};

/** They ask for a whole conversation before they look at the project, or answer for each item. */
const OTHERWISE: ReadonlySet<string> = new Set([
  "POST /projects/:project/calls/batch",
  "POST /projects/:project/tool-services/:target/claim",
  "POST /projects/:project/cards",
  "POST /projects/:project/reports",
]);

test.each(ofProjects.map(({ method, path }) => `${method} ${path}`).filter((name) => !OTHERWISE.has(name)))(
  "[API-no-project] %s of a project that is not there is 404, and says so",
  async (name) => {
    const [method = "", path = ""] = name.split(" ");
    const body = method === "GET" || method === "DELETE" ? undefined : (BODIES[name] ?? {});
    const answer = await http.send(method, pathOf(path, "nowhere"), body);
    expect([answer.status, answer.body.error]).toEqual([
      404,
      {
        code: "not_found",
        message: "there is no project nowhere",
        retryable: false,
        detail: { todo: "see which there are: toolplane projects list, or GET /projects" },
      },
    ]);
  },
);

test("[API-no-project] an empty list of a project that is there is an empty page", async () => {
  await http.send("POST", "/projects", { project_id: "bare", title: "Bare", bootstrap: false });
  const lists = ["calls", "turns", "agents", "profiles", "tools", "approvals", "dead-letters", "services", "hosts"];
  for (const list of lists) {
    const { status, body } = await http.send("GET", `/projects/bare/${list}`);
    expect([list, status, body]).toEqual([list, 200, { items: [], next_cursor: null }]);
  }
});
