// Every route once as it is meant to be asked, and once wrongly. A path that does not begin with / is of the project demo.

import { toolUpload } from "@toolplane/testkit";
import type { World } from "./world.ts";

export interface Request {
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Pair {
  readonly good: (world: World) => Promise<Request> | Request;
  readonly bad: Request;
  /** The status of the refusal. */
  readonly refused: number;
}

type Asked = string | ((world: World) => Promise<string | Request> | string | Request);

/** Without a body. */
const get = (good: Asked, bad: string, refused = 404): Pair => ({
  good: async (world) => {
    const asked = typeof good === "string" ? good : await good(world);
    return typeof asked === "string" ? { path: asked } : asked;
  },
  bad: { path: bad },
  refused,
});

/** With one. */
const send = (good: Asked, body: unknown, bad: Request | string, refused = 404): Pair => ({
  good: async (world) => {
    const asked = typeof good === "string" ? good : await good(world);
    return typeof asked === "string" ? { path: asked, body } : asked;
  },
  bad: typeof bad === "string" ? { path: bad, body } : bad,
  refused,
});

const P = "/projects/:project";
const NO = "nothing";
const EMPTY = {};

const PLANE: Readonly<Record<string, Pair>> = {
  "GET /whoami": {
    ...get("/whoami", "/whoami"),
    bad: { path: "/whoami", headers: { authorization: "" } },
    refused: 401,
  },
  "GET /openapi.json": {
    ...get("/openapi.json", ""),
    bad: { path: "/openapi.json", headers: { authorization: "Bearer x" } },
    refused: 401,
  },
  "GET /docs": { ...get("/docs", ""), bad: { path: "/docs", headers: { host: "evil.example.com" } }, refused: 403 },
  "POST /projects": send("/projects", { title: "More" }, { path: "/projects", body: { name: "x" } }, 400),
  "GET /projects": get("/projects?limit=1", "/projects?limit=0", 400),
  [`GET ${P}`]: get("/projects/demo", `/projects/${NO}`),
  [`PATCH ${P}`]: send("/projects/demo", { title: "New" }, { path: "/projects/demo", body: { title: 7 } }, 400),
  [`DELETE ${P}`]: get(async ({ http }) => {
    await http.send("POST", "/projects", { project_id: "gone", title: "Gone" });
    return "/projects/gone";
  }, `/projects/${NO}`),
  "POST /tokens": send("/tokens", { role: "admin" }, { path: "/tokens", body: { role: "king" } }, 400),
  "GET /tokens": get("/tokens", "/tokens?cursor=x", 400),
  "DELETE /tokens/:token": get(
    async ({ http }) => `/tokens/${(await http.send("POST", "/tokens", { role: "admin" })).body.token_id}`,
    `/tokens/${NO}`,
  ),
  "POST /login-links": {
    ...get("/login-links", ""),
    bad: { path: "/login-links", headers: { authorization: "" } },
    refused: 401,
  },
  "GET /sessions": get("/sessions", "/sessions?limit=0", 400),
  "DELETE /sessions/:session": get(async ({ http }) => {
    const { token } = await http.t.engine.tokens.create({ role: "admin" });
    const begun = await http.t.engine.logins.beginWithToken(token, "a browser");
    return `/sessions/${begun?.session.sessionId}`;
  }, `/sessions/${NO}`),
  "GET /audit": get("/audit", "/audit?limit=many", 400),
  [`GET ${P}/audit`]: get("audit", `/projects/${NO}/audit`),
};

const REGISTRY: Readonly<Record<string, Pair>> = {
  [`POST ${P}/tools`]: send("tools", toolUpload({ name: "fresh" }), { path: "tools", body: { tool_name: "x" } }, 400),
  [`GET ${P}/tools`]: get("tools", "tools?pending=maybe", 400),
  [`GET ${P}/tools/:tool`]: get("tools/safe?version=1", `tools/${NO}`),
  [`GET ${P}/tools/:tool/versions`]: get("tools/safe/versions", `tools/${NO}/versions`),
  [`PATCH ${P}/tools/:tool/limits`]: send(
    async ({ makeTool }) => `tools/${await makeTool()}/limits`,
    { concurrency: 5 },
    { path: "tools/safe/limits", body: { concurrency: 0 } },
    400,
  ),
  [`POST ${P}/tools/:tool/accept`]: send(
    async ({ makeTool, post }) => {
      const name = await makeTool();
      const weaker = toolUpload({ name, options: { approval: "never" } });
      await post("tools", weaker, { "toolplane-register-as": "service" });
      return `tools/${name}/accept`;
    },
    EMPTY,
    "tools/safe/accept",
    409,
  ),
  [`POST ${P}/tools/:tool/pause`]: get(async ({ makeTool }) => `tools/${await makeTool()}/pause`, `tools/${NO}/pause`),
  [`POST ${P}/tools/:tool/resume`]: get(
    async ({ makeTool }) => `tools/${await makeTool()}/resume`,
    `tools/${NO}/resume`,
  ),
  [`DELETE ${P}/tools/:tool`]: get(async ({ makeTool }) => `tools/${await makeTool()}`, `tools/${NO}`),
  [`POST ${P}/profiles`]: send(
    "profiles",
    { name: "other", worker_target: "crew" },
    { path: "profiles", body: { name: "" } },
    400,
  ),
  [`GET ${P}/profiles`]: get("profiles", `/projects/${NO}/profiles`),
  [`GET ${P}/profiles/:profile`]: get("profiles/plain", `profiles/${NO}`),
  [`DELETE ${P}/profiles/:profile`]: get(async ({ post }) => {
    await post("profiles", { name: "spare", worker_target: "crew" });
    return "profiles/spare";
  }, `profiles/${NO}`),
  [`POST ${P}/agents`]: send(
    "agents",
    { agent_id: "second", profile_name: "plain" },
    { path: "agents", body: { agent_id: "a b" } },
    400,
  ),
  [`GET ${P}/agents`]: get("agents?all=true", "agents?status=asleep", 400),
  [`GET ${P}/agents/:agent`]: get("agents/helper", `agents/${NO}`),
  [`POST ${P}/agents/:agent/activate`]: send("agents/helper/activate", EMPTY, `agents/${NO}/activate`),
  [`POST ${P}/agents/:agent/deactivate`]: send(
    async ({ post }) => {
      await post("agents", { agent_id: "third", profile_name: "plain" });
      return "agents/third/deactivate";
    },
    { reason: "over" },
    `agents/${NO}/deactivate`,
  ),
};

const WEBHOOKS: Readonly<Record<string, Pair>> = {
  [`POST ${P}/webhooks`]: send(
    "webhooks",
    { url: "https://hooks.example.com/in", secret: "a secret of some length" },
    { path: "webhooks", body: { url: "https://elsewhere.example.com/", secret: "a secret of some length" } },
    403,
  ),
  [`GET ${P}/webhooks`]: get("webhooks", `/projects/${NO}/webhooks`),
  [`DELETE ${P}/webhooks/:webhook`]: get(async ({ webhook }) => `webhooks/${await webhook()}`, `webhooks/${NO}`),
  [`GET ${P}/webhooks/:webhook/deliveries`]: get(
    async ({ webhook }) => `webhooks/${await webhook()}/deliveries`,
    `webhooks/${NO}/deliveries?status=lost`,
    400,
  ),
  [`POST ${P}/webhook-deliveries/:delivery/replay`]: get(
    async ({ delivery }) => `webhook-deliveries/${await delivery()}/replay`,
    `webhook-deliveries/${NO}/replay`,
  ),
};

const ALL_FILTERS = "tool_name=safe&status=queued&since=2026-01-01T00:00:00Z&target=test&agent_id=sys.api&limit=2";

const CALLS: Readonly<Record<string, Pair>> = {
  [`POST ${P}/calls`]: send("calls", { tool_name: "safe" }, { path: "calls", body: { tool_name: NO } }),
  [`POST ${P}/calls/batch`]: send(
    "calls/batch",
    [{ tool_name: "safe" }, { tool_name: NO }],
    { path: "calls/batch", body: [] },
    400,
  ),
  [`GET ${P}/calls`]: get(`calls?${ALL_FILTERS}`, "calls?since=yesterday", 400),
  [`GET ${P}/calls/:call`]: get(async ({ settled }) => `calls/${await settled()}`, `calls/${NO}`),
  [`GET ${P}/calls/:call/why`]: get(async ({ makeCall }) => `calls/${await makeCall()}/why`, `calls/${NO}/why`),
  [`GET ${P}/calls/:call/parts`]: get(async ({ settled }) => `calls/${await settled()}/parts`, `calls/${NO}/parts`),
  [`POST ${P}/calls/:call/cancel`]: send(
    async ({ makeCall }) => `calls/${await makeCall()}/cancel`,
    EMPTY,
    `calls/${NO}/cancel`,
  ),
  [`POST ${P}/calls/cancel`]: send(
    "calls/cancel",
    { tool_name: "unsafe", reason: "a flood" },
    {
      path: "calls/cancel",
      body: { tool_name: "no such name" },
    },
    400,
  ),
  [`POST ${P}/calls/:call/retry`]: send(
    async ({ settled }) => `calls/${await settled()}/retry`,
    EMPTY,
    `calls/${NO}/retry`,
  ),
  [`GET ${P}/approvals`]: get(async ({ makeCall }) => {
    await makeCall("risky");
    return "approvals";
  }, `/projects/${NO}/approvals`),
  [`POST ${P}/calls/:call/approve`]: send(
    async ({ makeCall }) => `calls/${await makeCall("risky")}/approve`,
    EMPTY,
    `calls/${NO}/approve`,
  ),
  [`POST ${P}/calls/:call/deny`]: send(
    async ({ makeCall }) => `calls/${await makeCall("risky")}/deny`,
    { reason: "no" },
    { path: `calls/${NO}/deny`, body: { why: 1 } },
    400,
  ),
};

const SERVICES: Readonly<Record<string, Pair>> = {
  [`POST ${P}/tool-services/:target/claim`]: send(
    "tool-services/test/claim",
    { wait_seconds: 0 },
    "tool-services/a%20b/claim",
    400,
  ),
  [`POST ${P}/tool-services/:target/exchange`]: send(
    async ({ held }) => {
      const { id, lease } = await held();
      const named = { tool_call_id: id, lease };
      const body = {
        results: [
          { ...named, status: "success" },
          { tool_call_id: NO, status: "success" },
        ],
        heartbeats: [named],
        parts: [{ ...named, parts: [{ index: 0, part: "x" }] }],
        releases: [{ tool_call_id: NO, lease }],
      };
      return { path: "tool-services/held/exchange", body };
    },
    EMPTY,
    { path: "tool-services/held/exchange", body: { results: 7 } },
    400,
  ),
  [`GET ${P}/calls/:call/card`]: get(async ({ held }) => `calls/${(await held()).id}/card`, `calls/${NO}/card`),
  ...Object.fromEntries(
    (
      [
        ["heartbeat", {}],
        ["release", {}],
        ["result", { status: "success", result: 1 }],
        ["parts", { parts: [{ index: 0, part: "a" }] }],
      ] as const
    ).map(([verb, more]) => [
      `POST ${P}/calls/:call/${verb}`,
      send(
        async ({ held }) => {
          const { id, lease } = await held();
          return { path: `calls/${id}/${verb}`, body: { lease, ...more } };
        },
        EMPTY,
        { path: `calls/${NO}/${verb}`, body: { lease: "x", ...more } },
      ),
    ]),
  ),
  [`POST ${P}/cards`]: send(
    async ({ held, resultCard }) => {
      const { id, lease } = await held();
      return { path: "cards", body: await resultCard(id), headers: { "cg-lease": lease } };
    },
    EMPTY,
    "cards",
    400,
  ),
  [`POST ${P}/reports`]: send(
    async ({ held, resultCard, post }) => {
      const { id, lease } = await held();
      const card = await resultCard(id);
      await post("cards", card, { "cg-lease": lease });
      const body = { status: "success", after_execution: "suspend", tool_result_card_id: card.card_id };
      return { path: "reports", body, headers: { "cg-tool-call-id": id, "cg-lease": lease } };
    },
    EMPTY,
    "reports",
    400,
  ),
};

const WORK: Readonly<Record<string, Pair>> = {
  [`POST ${P}/agents/:agent/turns`]: send(
    "agents/helper/turns",
    { instruction: "go" },
    { path: "agents/helper/turns", body: EMPTY },
    400,
  ),
  [`POST ${P}/agents/:agent/actions`]: send(
    "agents/clicker/actions",
    { tool_name: "shown" },
    { path: "agents/clicker/actions", body: { tool_name: NO } },
  ),
  [`GET ${P}/turns`]: get("turns?agent_id=helper&until=2099-01-01T00:00:00Z", "turns?status=asleep", 400),
  [`GET ${P}/turns/:turn`]: get(
    async ({ makeTurn }) => `turns/${(await makeTurn()).agent_turn_id}?detail=full`,
    `turns/${NO}`,
  ),
  [`GET ${P}/turns/:turn/export`]: get(
    async ({ makeTurn }) => `turns/${(await makeTurn()).agent_turn_id}/export`,
    `turns/${NO}/export`,
  ),
  [`POST ${P}/turns/:turn/stop`]: send(
    async ({ makeTurn }) => `turns/${(await makeTurn()).agent_turn_id}/stop`,
    EMPTY,
    `turns/${NO}/stop`,
  ),
  [`GET ${P}/traces/:trace`]: get(
    async ({ post }) => `traces/${(await post("calls", { tool_name: "safe" })).trace_id}`,
    `traces/${NO}`,
  ),
  [`GET ${P}/state/agents`]: get("state/agents", "state/agents?status=asleep", 400),
  [`GET ${P}/state/steps`]: get("state/steps?agent_id=helper", `/projects/${NO}/state/steps`),
  [`GET ${P}/state/execution/edges`]: get(
    async ({ openBatch, makeTurn }) => {
      await openBatch();
      await makeTurn();
      return "state/execution/edges";
    },
    "state/execution/edges?primitive=guess",
    400,
  ),
  [`GET ${P}/state/identity/edges`]: get("state/identity/edges", "state/identity/edges?cursor=!", 400),
  [`GET ${P}/batches`]: get("batches", `/projects/${NO}/batches`),
  [`GET ${P}/batches/:batch`]: get(async ({ openBatch }) => `batches/${await openBatch()}`, `batches/${NO}`),
  [`GET ${P}/dead-letters`]: get("dead-letters", `/projects/${NO}/dead-letters`),
  [`GET ${P}/dead-letters/:letter`]: get(
    async ({ deadLetter }) => `dead-letters/${await deadLetter()}`,
    `dead-letters/${NO}`,
  ),
  [`POST ${P}/dead-letters/:letter/replay`]: get(
    async ({ deadLetter }) => `dead-letters/${await deadLetter()}/replay`,
    `dead-letters/${NO}/replay`,
  ),
  [`GET ${P}/hosts`]: get("hosts", "hosts?limit=0", 400),
  [`GET ${P}/services`]: get("services", `/projects/${NO}/services`),
  [`GET ${P}/limits`]: get("limits", `/projects/${NO}/limits`),
  [`GET ${P}/tools/:tool/usage`]: get("tools/safe/usage", `tools/${NO}/usage`),
  [`GET ${P}/events`]: get("events?kind=call,turn", "events?kind=gossip", 400),
  [`GET ${P}/cards/:card`]: get(
    async ({ post }) => `cards/${(await post("calls", { tool_name: "safe" })).tool_call_card_id}?length=10`,
    `cards/${NO}`,
  ),
  [`POST ${P}/cards/batch`]: send(
    "cards/batch",
    { card_ids: [NO] },
    { path: "cards/batch", body: { card_ids: "x" } },
    400,
  ),
  [`GET ${P}/boxes/:box`]: get(async ({ makeTurn }) => `boxes/${(await makeTurn()).context_box_id}`, `boxes/${NO}`),
  [`GET ${P}/boxes/:box/cards`]: get(
    async ({ makeTurn }) => `boxes/${(await makeTurn()).context_box_id}/cards`,
    `boxes/${NO}/cards`,
  ),
  [`POST ${P}/boxes/batch`]: send(
    async ({ makeTurn }) => ({
      path: "boxes/batch",
      body: { box_ids: [(await makeTurn()).context_box_id], hydrate: true },
    }),
    EMPTY,
    "boxes/batch",
    400,
  ),
};

export const PAIRS: Readonly<Record<string, Pair>> = {
  ...PLANE,
  ...REGISTRY,
  ...WEBHOOKS,
  ...CALLS,
  ...SERVICES,
  ...WORK,
};
