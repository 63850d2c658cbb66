// Sections 4.5, 4.6, 5.6 and 5.7 of the protocol with nothing but requests.
// Doors: HTTP

import { fingerprint } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "../http/http-stack.ts";

let http: HttpStack;
beforeAll(async () => {
  http = await startHttpStack();
});
afterAll(() => http[Symbol.asyncDispose]());

const post = (path: string, body: unknown) => http.send("POST", `/projects/demo${path}`, body);
const get = async (path: string) => (await http.send("GET", `/projects/demo${path}`)).body;

const cardsIn = async (box: unknown, query = "") =>
  (await get(`/boxes/${box}/cards${query}`)) as unknown as readonly { card_id: string; type: string }[];

describe("a profile", () => {
  test("[UTP-5.7-1] [UTP-5.7-2] [UTP-5.7-3] [UTP-5.7-4] [UTP-5.7-6] has the aliases and defaults of the protocol, and keeps extra keys", async () => {
    const upload = { name: "Plain", worker_target: "crew", tags: "a, b", system_prompt: "You help {x}.", mood: "good" };
    expect((await post("/profiles", upload)).status).toBe(201);
    expect(await get("/profiles/plain")).toMatchObject({
      name: "Plain",
      worker_target: "crew",
      tags: ["a", "b"],
      system_prompt_compiled: "You help {x}.",
      profile: {
        mood: "good",
        allowed_tools: [],
        allowed_internal_tools: [],
        must_end_with: [],
        llm_config: { model: "gpt-3.5-turbo", temperature: 1, stream: true, save_reasoning_content: true },
      },
    });
  });

  test("[UTP-5.7-9] [UTP-5.7-E1] [UTP-5.7-E2] [UTP-13.2-3] is a sys.profile card in a new box; the old box keeps the old one", async () => {
    const upload = (text: string) => post("/profiles", { name: "Twice", worker_target: "crew", system_prompt: text });
    const boxes = [(await upload("one")).body.profile_box_id, (await upload("two")).body.profile_box_id];
    expect(boxes[0]).not.toBe(boxes[1]);
    const boxed = await Promise.all(boxes.map((box) => cardsIn(box)));
    expect(boxed.map((cards) => cards.map(({ type }) => type))).toEqual([["sys.profile"], ["sys.profile"]]);
    expect(JSON.stringify(boxed[0])).toContain("one");
    expect(JSON.stringify(boxed[1])).toContain("two");
  });

  test.each([
    ["[UTP-5.7-1] no name", { worker_target: "crew" }],
    ["[UTP-5.7-1] no worker_target", { name: "Bad" }],
    ["[UTP-5.7-1] a worker_target of two tokens", { name: "Bad", worker_target: "a.b" }],
    ["[UTP-5.7-5] a key in it", { name: "Bad", worker_target: "crew", llm_config: { api_key: "sk-secret" } }],
  ])("with %s is refused, and nothing is written [UTP-5.7-E3]", async (_name, body) => {
    const before = await fingerprint(http.t);
    const answer = await post("/profiles", body);
    expect(answer.body.error.code).toBe("bad_request");
    expect(JSON.stringify(answer.body)).not.toContain("sk-secret");
    expect(await fingerprint(http.t)).toBe(before);
  });
});

describe("an agent", () => {
  beforeAll(async () => {
    await post("/profiles", { name: "First", worker_target: "crew", tags: ["kind"] });
    await post("/profiles", { name: "Second", worker_target: "office" });
  });

  test("[UTP-5.6-E1] [UTP-5.6-4] [UTP-5.6-5] [UTP-5.6-6] [UTP-5.6-7] uploaded again: what is replaced, kept and merged", async () => {
    const first = {
      agent_id: "ann",
      profile_name: "First",
      display_name: "Ann",
      owner_agent_id: "boss",
      metadata: { a: 1, b: 1 },
    };
    expect((await post("/agents", first)).body).toMatchObject({
      status: "active",
      worker_target: "crew",
      tags: ["kind"],
    });
    const off = await post("/agents/ann/deactivate", { reason: "on leave" });
    expect(off.body).toMatchObject({ status: "inactive", metadata: { deactivated_reason: "on leave" } });
    await post("/agents", { agent_id: "ann", profile_name: "Second", tags: ["new"], metadata: { b: 2, c: 3 } });
    const ann = await get("/agents/ann");
    expect(ann).toMatchObject({
      worker_target: "office",
      tags: ["new"],
      display_name: "Ann",
      status: "inactive",
      metadata: { a: 1, b: 2, c: 3 },
    });
    expect(ann.owner_agent_id ?? null).toBeNull();
  });

  test.each([
    ["[UTP-5.6-2] an id of two tokens", { agent_id: "a.b", profile_name: "First" }, 400],
    ["[UTP-5.6-2] a wildcard as worker_target", { agent_id: "x", profile_name: "First", worker_target: ">" }, 400],
    ["[UTP-5.6-2] a box that is not a UUID", { agent_id: "x", profile_box_id: "box" }, 400],
    ["[UTP-13.2-4] no profile", { agent_id: "x" }, 400],
    ["[UTP-13.2-4] [UTP-13.2-E10] a profile nobody knows", { agent_id: "x", profile_name: "Ghost" }, 404],
  ])("with %s is refused, and nothing is written", async (_name, body, status) => {
    const before = await fingerprint(http.t);
    expect((await post("/agents", body)).status).toBe(status);
    expect(await fingerprint(http.t)).toBe(before);
  });
});

describe("a box", () => {
  test("[UTP-4.6-E1] [UTP-4.5-E1] [UTP-13.2-7] keeps order and doubles; its cards follow it, without those that are missing", async () => {
    const made = await Promise.all([1, 2].map(() => post("/calls", { tool_name: "safe" })));
    const [a, b] = made.map(({ body }) => String(body.tool_call_card_id)) as [string, string];
    const box = await http.t.engine.boxes.createBox("demo", [b, "gone", a, b]);
    expect((await get(`/boxes/${box}`)).card_ids).toEqual([b, "gone", a, b]);
    const cardsOf = async (query: string) => (await cardsIn(box, query)).map(({ card_id }) => card_id);
    expect(await cardsOf("")).toEqual([b, a, b]);
    expect(await cardsOf("?limit=2")).toEqual([a, b]);
    expect((await http.send("GET", `/projects/demo/boxes/${box}/cards?limit=501`)).status).toBe(400);
  });

  test("[UTP-13.2-E4] [UTP-13.2-E5] many boxes come in the order asked for, at most 100, and what is missing is named", async () => {
    const { boxes } = http.t.engine;
    const [one, two] = [await boxes.createBox("demo", ["x", "y", "z"]), await boxes.createBox("demo", [])];
    const gone = "018f0000-0000-7000-8000-000000000000";
    const batch = (body: object) => post("/boxes/batch", body);
    expect((await batch({ box_ids: [two, gone, one, two], hydrate: true, limit: 2 })).body).toMatchObject({
      boxes: [
        { box_id: two, card_ids: [] },
        { box_id: one, card_ids: ["y", "z"] },
      ],
      missing_box_ids: [gone],
      missing_card_ids: ["y", "z"],
    });
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => `018f0000-0000-7000-8000-${String(index).padStart(12, "0")}`);
    expect((await batch({ box_ids: [...many(100), ...many(100)] })).status).toBe(200);
    for (const wrong of [{ box_ids: many(101) }, { box_ids: [one], limit: 0 }, { box_ids: [one], limit: 501 }])
      expect((await batch(wrong)).status).toBe(400);
  });

  test("[UTP-4.6-E6] that is missing, or another project's, is not_found", async () => {
    await http.t.engine.projects.createProject({ project_id: "far", title: "Far", bootstrap: false }, "sys.test");
    const far = await http.t.engine.boxes.createBox("far", []);
    for (const box of [far, "018f0000-0000-7000-8000-000000000000"])
      expect((await http.send("GET", `/projects/demo/boxes/${box}`)).status).toBe(404);
  });
});
