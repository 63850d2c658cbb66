// What each route is expected to give, said a second time and independently of the code: which roles, and whose things.
// A route that is not here fails the matrix, so a new one cannot be added without saying whom it serves.

import type { Role } from "@toolplane/engine";
import { toolUpload } from "@toolplane/testkit";
import type { Belongings } from "./world.ts";

/**
 * shared: the project's, for every role that is named. listed: a list, a batch or a stream of which an agent sees its own.
 * made: makes something in the caller's name. owned: one thing, which an agent reaches only when it is its own.
 * served: a call or a target, which a tool service reaches only when it serves the target.
 * self: about the caller or for all callers, whatever its project.
 */
export type Kind = "self" | "shared" | "listed" | "made" | "owned" | "served";

/** What a request names: the ids of an owner, and the target. */
export interface Named extends Belongings {
  readonly agent: string;
  readonly target: "test" | "elsewhere";
}

export interface Expected {
  readonly roles: readonly Role[];
  readonly kind: Kind;
  readonly body?: (named: Named) => unknown;
  readonly headers?: (named: Named) => Readonly<Record<string, string>>;
  /** The owner's text is in the answer to those who may see it. */
  readonly shows?: true;
  /** Those who may would destroy what the next request needs: they ask for something that is not there. */
  readonly spare?: true;
}

const ADMIN: readonly Role[] = ["admin"];
const OPERATORS: readonly Role[] = ["admin", "operator"];
const PEOPLE: readonly Role[] = ["admin", "operator", "viewer"];
const CALLERS: readonly Role[] = ["admin", "operator", "agent"];
const READERS: readonly Role[] = ["admin", "operator", "viewer", "agent"];
const ALL: readonly Role[] = [...READERS, "tool"];
const SERVICES: readonly Role[] = ["admin", "tool"];

const shared = (roles: readonly Role[], more: Partial<Expected> = {}): Expected => ({ roles, kind: "shared", ...more });
const self = (): Expected => ({ roles: ALL, kind: "self" });
const listed = (more: Partial<Expected> = {}): Expected => ({ roles: READERS, kind: "listed", ...more });
const owned = (roles: readonly Role[], more: Partial<Expected> = {}): Expected => ({ roles, kind: "owned", ...more });
const served = (more: Partial<Expected> = {}): Expected => ({ roles: SERVICES, kind: "served", ...more });

/** The call a service asks about: of the target it names. */
export const callOf = ({ target, running, foreign }: Named): string => (target === "test" ? running : foreign);

const P = "/projects/:project";

export const EXPECTED: Readonly<Record<string, Expected>> = {
  // the plane
  "POST /projects": shared(ADMIN, { body: () => ({ title: "" }) }),
  "GET /projects": self(),
  "GET /whoami": self(),
  "GET /openapi.json": self(),
  "GET /docs": self(),
  "DELETE /projects/:project": shared(ADMIN, { spare: true }),
  "POST /tokens": shared(ADMIN, { body: () => ({ role: "viewer", project_id: "nothing" }) }),
  "GET /tokens": shared(ADMIN),
  "GET /audit": shared(ADMIN),
  "POST /login-links": shared(ADMIN),
  "GET /sessions": shared(ADMIN),
  "DELETE /sessions/:session": shared(ADMIN),
  "DELETE /tokens/:token": shared(ADMIN),
  // MCP: a call is made in the caller's name; an agent reads only its own tasks (tests/mcp)
  "POST /mcp/:project": { roles: CALLERS, kind: "made", body: () => ({ jsonrpc: "2.0", id: 1, method: "ping" }) },
  "GET /mcp/:project": { roles: CALLERS, kind: "made" },
  "DELETE /mcp/:project": { roles: CALLERS, kind: "made" },
  // what a project's people and programs share
  [`GET ${P}`]: shared(ALL),
  [`PATCH ${P}`]: shared(OPERATORS, { body: () => ({}) }),
  [`GET ${P}/audit`]: shared(OPERATORS),
  [`POST ${P}/tools/:tool/accept`]: shared(OPERATORS, { body: () => ({}) }),
  [`PATCH ${P}/tools/:tool/limits`]: shared(OPERATORS, { body: () => ({}) }),
  [`GET ${P}/tools`]: shared(ALL),
  [`GET ${P}/tools/:tool`]: shared(ALL),
  [`GET ${P}/tools/:tool/versions`]: shared(READERS),
  [`POST ${P}/tools/:tool/pause`]: shared(OPERATORS),
  [`POST ${P}/tools/:tool/resume`]: shared(OPERATORS),
  [`DELETE ${P}/tools/:tool`]: shared(OPERATORS),
  [`POST ${P}/profiles`]: shared(OPERATORS, { body: () => ({ name: "" }) }),
  [`GET ${P}/profiles`]: shared(READERS),
  [`GET ${P}/profiles/:profile`]: shared(READERS),
  [`DELETE ${P}/profiles/:profile`]: shared(OPERATORS),
  [`POST ${P}/agents`]: shared(OPERATORS, { body: () => ({ agent_id: "x", profile_name: "nothing" }) }),
  [`GET ${P}/agents`]: shared(READERS),
  [`GET ${P}/agents/:agent`]: shared(READERS),
  [`POST ${P}/agents/:agent/activate`]: shared(OPERATORS, { body: () => ({}) }),
  [`POST ${P}/agents/:agent/deactivate`]: shared(OPERATORS, { body: () => ({}), spare: true }),
  // Webhooks are off in this stack: a role that may make one is told so with 403 too, so nobody is let in.
  [`POST ${P}/webhooks`]: shared([], {
    body: () => ({ url: "https://hooks.example.com", secret: "0123456789abcdef" }),
  }),
  [`GET ${P}/webhooks`]: shared(OPERATORS),
  [`DELETE ${P}/webhooks/:webhook`]: shared(OPERATORS),
  [`GET ${P}/webhooks/:webhook/deliveries`]: shared(OPERATORS),
  [`POST ${P}/webhook-deliveries/:delivery/replay`]: shared(OPERATORS),
  // the work of everybody: for people
  [`GET ${P}/approvals`]: shared(PEOPLE),
  [`POST ${P}/calls/:call/approve`]: shared(OPERATORS, { body: () => ({}) }),
  [`POST ${P}/calls/:call/deny`]: shared(OPERATORS, { body: () => ({}) }),
  [`POST ${P}/calls/:call/retry`]: shared(OPERATORS, { body: () => ({}), spare: true }),
  [`POST ${P}/calls/cancel`]: shared(OPERATORS, { body: () => ({ tool_name: "nothing" }) }),
  [`GET ${P}/dead-letters`]: shared(PEOPLE),
  [`GET ${P}/dead-letters/:letter`]: shared(PEOPLE),
  [`POST ${P}/dead-letters/:letter/replay`]: shared(OPERATORS),
  [`GET ${P}/hosts`]: shared(PEOPLE),
  [`GET ${P}/services`]: shared(PEOPLE),
  [`GET ${P}/limits`]: shared(PEOPLE),
  [`GET ${P}/tools/:tool/usage`]: shared(PEOPLE),
  [`GET ${P}/batches`]: shared(PEOPLE),
  [`GET ${P}/batches/:batch`]: shared(PEOPLE),
  [`GET ${P}/state/agents`]: shared(PEOPLE),
  [`GET ${P}/state/steps`]: shared(PEOPLE),
  [`GET ${P}/state/execution/edges`]: shared(PEOPLE),
  [`GET ${P}/state/identity/edges`]: shared(PEOPLE),
  // The trace is one that does not exist: an answer of 404 means that the role was let in.
  [`GET ${P}/traces/:trace`]: shared(PEOPLE),
  // lists, batches and streams
  [`GET ${P}/calls`]: listed(),
  [`GET ${P}/turns`]: listed(),
  [`GET ${P}/events`]: listed({ headers: () => ({ "last-event-id": "0-0" }) }),
  [`POST ${P}/cards/batch`]: listed({
    body: ({ card, resultCard }) => ({ card_ids: [card, resultCard] }),
    shows: true,
  }),
  [`POST ${P}/boxes/batch`]: listed({
    body: ({ box, shared }) => ({ box_ids: [box, shared], hydrate: true }),
    shows: true,
  }),
  // one thing
  [`GET ${P}/calls/:call`]: owned(READERS, { shows: true }),
  [`GET ${P}/calls/:call/why`]: owned(READERS),
  // The call has settled, so the stream ends at once.
  [`GET ${P}/calls/:call/parts`]: owned(READERS),
  [`POST ${P}/calls/:call/cancel`]: owned(CALLERS, { body: () => ({}) }),
  [`GET ${P}/turns/:turn`]: owned(READERS),
  [`GET ${P}/turns/:turn/export`]: owned(READERS, { shows: true }),
  [`POST ${P}/turns/:turn/stop`]: owned(CALLERS, { body: () => ({}) }),
  [`GET ${P}/cards/:card`]: owned(READERS, { shows: true }),
  [`GET ${P}/boxes/:box`]: owned(READERS),
  [`GET ${P}/boxes/:box/cards`]: owned(READERS, { shows: true }),
  // in the caller's name
  [`POST ${P}/calls`]: { roles: CALLERS, kind: "made", body: () => ({ tool_name: "safe" }) },
  [`POST ${P}/calls/batch`]: { roles: CALLERS, kind: "made", body: () => [{ tool_name: "safe" }] },
  [`POST ${P}/agents/:agent/turns`]: owned(CALLERS, { body: () => ({ instruction: "go on" }) }),
  [`POST ${P}/agents/:agent/actions`]: owned(CALLERS, { body: () => ({ tool_name: "safe" }) }),
  // tool services
  [`POST ${P}/tools`]: {
    roles: ["admin", "operator", "tool"],
    kind: "served",
    body: ({ target }) => toolUpload({ name: `made_for_${target}`, target }),
  },
  [`POST ${P}/tool-services/:target/claim`]: served({ body: () => ({ wait_seconds: 0 }) }),
  [`POST ${P}/tool-services/:target/exchange`]: served({
    body: (named) => ({
      results: [{ tool_call_id: callOf(named), lease: "x", status: "success" }],
      heartbeats: [{ tool_call_id: callOf(named), lease: "x" }],
      releases: [{ tool_call_id: callOf(named), lease: "x" }],
      parts: [{ tool_call_id: callOf(named), lease: "x", parts: [] }],
    }),
  }),
  [`GET ${P}/calls/:call/card`]: served({ shows: true }),
  [`POST ${P}/calls/:call/heartbeat`]: served({ body: () => ({ lease: "x" }) }),
  [`POST ${P}/calls/:call/release`]: served({ body: () => ({ lease: "x" }) }),
  [`POST ${P}/calls/:call/result`]: served({ body: () => ({ lease: "x", status: "success" }) }),
  [`POST ${P}/calls/:call/parts`]: served({ body: () => ({ lease: "x", parts: [] }) }),
  [`POST ${P}/cards`]: served({ body: (named) => ({ tool_call_id: callOf(named) }) }),
  [`POST ${P}/reports`]: served({ body: () => ({}), headers: (named) => ({ "cg-tool-call-id": callOf(named) }) }),
};
