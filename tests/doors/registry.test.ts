// Sections 5.1, 5.2, 5.8 and 13.2 of the protocol, clause by clause, with nothing but requests.
// Doors: HTTP

import { fingerprint } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "../http/http-stack.ts";

let http: HttpStack;
beforeAll(async () => {
  http = await startHttpStack();
});
afterAll(() => http[Symbol.asyncDispose]());

const SOUND = {
  tool_name: "shout",
  description: "Says it louder",
  target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.shout",
  after_execution: "suspend",
  parameters: { type: "object", properties: { text: { type: "string" } } },
  options: { timeout_seconds: 5 },
} as const;

const upload = (definition: unknown, project = "demo") => http.send("POST", `/projects/${project}/tools`, definition);
const subject = (target_subject: string) => ({ ...SOUND, target_subject });
const parameters = (schema: unknown) => ({ ...SOUND, parameters: schema });
const without = (key: keyof typeof SOUND) => Object.fromEntries(Object.entries(SOUND).filter(([name]) => name !== key));

describe("an upload of a tool", () => {
  test("[UTP-5.1-1] [UTP-5.1-2] [UTP-5.1-E1] replaces every column: what is left out has its empty value", async () => {
    expect((await upload(SOUND)).status).toBe(201);
    const { tool_name, target_subject } = SOUND;
    expect((await upload({ tool_name, target_subject, after_execution: "terminate" })).status).toBe(200);
    const { body } = await http.send("GET", "/projects/demo/tools/shout");
    expect(body).toMatchObject({ project_id: "demo", tool_name, target_subject, after_execution: "terminate" });
    expect([body.description ?? "", body.parameters, body.options]).toEqual(["", {}, {}]);
  });

  const array = { type: "object", properties: { list: { anyOf: [{ type: "array" }] } } };
  test.each<[string, unknown, string?]>([
    ["[UTP-5.2-1] a root that is not a mapping", [SOUND]],
    ["[UTP-5.2-2] no name", without("tool_name")],
    ["[UTP-5.2-2] a blank name", { ...SOUND, tool_name: "  " }],
    ["[UTP-5.2-3] no target_subject", without("target_subject")],
    ["[UTP-5.2-3] no after_execution", without("after_execution")],
    ["[UTP-5.2-3] a blank after_execution", { ...SOUND, after_execution: "" }],
    ["[UTP-5.2-3] parameters that are not an object", parameters("none")],
    ["[UTP-5.2-3] options that are a list", { ...SOUND, options: [] }],
    ["[UTP-5.2-4] an unknown key", { ...SOUND, surprise: 1 }, "surprise"],
    ["[UTP-5.2-4] an unknown option", { ...SOUND, options: { surprise: 1 } }, "surprise"],
    ["[UTP-5.2-5] an array without items", parameters(array), "$"],
    ["[UTP-5.2-7] a schema that is none", parameters({ type: "object", properties: { a: { type: "what" } } })],
    ["[UTP-5.2-9] a name of the project manager", { ...SOUND, tool_name: "fork_join" }],
    ["[UTP-5.2-9] submit_result", { ...SOUND, tool_name: "submit_result" }],
    ["[UTP-5.2-10] another after_execution", { ...SOUND, after_execution: "explode" }],
    ["[UTP-5.2-11] an event's subject", subject("cg.v1r4.{project_id}.{channel_id}.evt.tool.test.shout")],
    ["[UTP-5.2-11] a subject of the system", subject("cg.v1r4.{project_id}.{channel_id}.cmd.sys.pmo.internal.x")],
    ["[UTP-5.2-11] cmd.tool in the wrong place", subject("cg.v1r4.{project_id}.x.evt.agent.a.cmd.tool.b")],
    ["[UTP-5.2-11] another version", subject("cg.v1r2.{project_id}.{channel_id}.cmd.tool.test.shout")],
    ["[UTP-5.2-11] another project", subject("cg.v1r4.elsewhere.{channel_id}.cmd.tool.test.shout")],
    ["[UTP-5.2-11] a wildcard", subject("cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.*")],
    ["[UTP-5.2-11] too few tokens", subject("cg.v1r4.{project_id}.{channel_id}.cmd.tool.test")],
    ["[UTP-1.2-2] another placeholder", subject("cg.v1r4.{project_id}.{channel_id}.cmd.tool.test.{step_id}")],
    ["[UTP-11.1-R2] the project manager's target", subject("cg.v1r4.{project_id}.{channel_id}.cmd.tool.pmo.x")],
    ["[UTP-5.3-9] an unknown variable", { ...SOUND, options: { args: { fixed: { text: "{what}" } } } }, "what"],
  ])("%s is bad_request, and writes nothing", async (_name, definition, named = "") => {
    const before = await fingerprint(http.t);
    const { status, body } = await upload(definition);
    expect([status, body.error.code]).toEqual([400, "bad_request"]);
    expect(body.error.message).toContain(named);
    expect(await fingerprint(http.t)).toBe(before);
  });

  test("[UTP-5.2-2] the name is trimmed, and name is its alias", async () => {
    const { tool_name: _, ...rest } = SOUND;
    expect((await upload({ ...rest, name: "  whisper " })).body).toMatchObject({ tool_name: "whisper" });
  });

  test("[UTP-5.2-8] for a project that does not exist is not_found", async () => {
    expect((await upload(SOUND, "nowhere")).status).toBe(404);
  });
});

describe("a project", () => {
  test("[UTP-5.8-E1] [UTP-5.8-1] [UTP-13.2-1] has a minted id when none is given; its id is taken once", async () => {
    const { status, body } = await http.send("POST", "/projects", { title: "One", owner_id: "ann", bootstrap: false });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      project_id: expect.stringMatching(/^proj_[0-9a-f]{12}$/),
      title: "One",
      status: "active",
      owner_id: "ann",
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect((await http.send("POST", "/projects", { project_id: body.project_id, title: "Two" })).status).toBe(409);
  });

  test.each([
    ["no title", { project_id: "p1" }],
    ["an empty title", { project_id: "p1", title: "" }],
    ["an empty owner", { project_id: "p1", title: "t", owner_id: "" }],
    ["an unknown key", { project_id: "p1", title: "t", surprise: 1 }],
    ["an id of two tokens", { project_id: "p.1", title: "t" }],
  ])("[UTP-5.8-E3] with %s is refused, and nothing is made", async (_name, body) => {
    const before = await fingerprint(http.t);
    expect((await http.send("POST", "/projects", body)).body.error.code).toBe("bad_request");
    expect(await fingerprint(http.t)).toBe(before);
  });

  test("[UTP-5.8-2] [UTP-5.8-E4] that is not active takes no calls; no other status exists", async () => {
    await http.send("POST", "/projects", { project_id: "resting", title: "Resting" });
    await upload({ ...SOUND, tool_name: "tired" }, "resting");
    expect((await http.send("PATCH", "/projects/resting", { status: "asleep" })).status).toBe(400);
    for (const status of ["inactive", "archived"]) {
      expect((await http.send("PATCH", "/projects/resting", { status })).body.status).toBe(status);
      const before = await fingerprint(http.t);
      const refused = await http.send("POST", "/projects/resting/calls", { tool_name: "tired" });
      expect(refused.status).toBeGreaterThanOrEqual(400);
      expect(await fingerprint(http.t)).toBe(before);
    }
    await http.send("PATCH", "/projects/resting", { status: "active" });
    expect((await http.send("POST", "/projects/resting/calls", { tool_name: "tired" })).status).toBe(202);
  });

  test("[UTP-5.8-E2] [UTP-5.2-14] [UTP-13.2-2] is bootstrapped; its internal tools are not listed, read or deleted", async () => {
    await http.send("POST", "/projects", { project_id: "fresh", title: "Fresh" });
    const listed = (await http.send("GET", "/projects/fresh/tools?limit=1")).body.items;
    expect(listed).toMatchObject([{ tool_name: "emit_marker", after_execution: "suspend" }]);
    expect(listed[0]).toMatchObject({ options: { args: { fixed: { marker_type: "adoptable_recommendation" } } } });
    for (const name of ["delegate_async", "launch_principal", "ask_expert", "fork_join", "provision_agent"]) {
      expect((await http.send("GET", `/projects/fresh/tools/${name}`)).status).toBe(404);
      expect((await http.send("DELETE", `/projects/fresh/tools/${name}`)).status).toBe(400);
    }
    expect((await http.send("DELETE", "/projects/fresh/tools/nothing")).status).toBe(404);
    await http.send("POST", "/projects", { project_id: "bare", title: "Bare", bootstrap: false });
    expect((await http.send("GET", "/projects/bare/tools")).body.items).toEqual([]);
  });

  test.each([
    ["GET", ""],
    ["PATCH", "", { title: "x" }],
    ["DELETE", ""],
    ["GET", "/tools"],
    ["GET", "/tools/safe"],
    ["DELETE", "/tools/safe"],
    ["GET", "/profiles"],
    ["POST", "/profiles", { name: "a", worker_target: "b" }],
    ["GET", "/agents"],
    ["POST", "/agents", { agent_id: "a", profile_name: "b" }],
    ["GET", "/cards/c"],
    ["POST", "/calls", { tool_name: "safe" }],
    ["GET", "/calls/c"],
  ])("[UTP-13.2-1] that does not exist is not_found: %s %s", async (method, path, body?: object) => {
    expect((await http.send(method, `/projects/nowhere${path}`, body)).status).toBe(404);
  });
});

describe("many cards at once", () => {
  const batch = async (card_ids: readonly string[]) => http.send("POST", "/projects/demo/cards/batch", { card_ids });

  test("[UTP-13.2-6] [UTP-13.2-E1] come once each, and what is missing is named", async () => {
    const made = await Promise.all([1, 2].map(() => http.send("POST", "/projects/demo/calls", { tool_name: "safe" })));
    const [one, two] = made.map(({ body }) => String(body.tool_call_card_id)) as [string, string];
    const answer = (await batch([two, "x", one, two, "x", "y"])).body as unknown as {
      cards: { card_id: string }[];
      missing_ids: string[];
    };
    expect(answer.cards.map(({ card_id }) => card_id)).toEqual([two, one]);
    expect(answer.missing_ids).toEqual(["x", "y"]);
  });

  test("[UTP-13.2-E2] are at most 100 after doubles are removed; none is none", async () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `c${index}`);
    expect((await batch([...many(100), ...many(100)])).status).toBe(200);
    expect((await batch(many(101))).status).toBe(400);
    expect((await batch([])).body).toMatchObject({ cards: [], missing_ids: [] });
  });
});
