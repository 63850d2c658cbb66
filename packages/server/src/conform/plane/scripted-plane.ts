// The plane as a tool service sees it, scripted: the documented routes over HTTP, with answers the real engine would never
// give. It keeps the books for the judges and decides nothing itself.
//   P1. A request without the token is served all the same, and noted: the other clauses can still be judged.
//   P2. Nothing is stored beyond the run, and nothing but loopback is listened on.

import { isRecord, type JsonObject, ToolplaneError, tryParseJsonStrict } from "@toolplane/protocol";
import { type Context, Hono } from "hono";
import { readBody } from "../../http/read-body.ts";
import { type CallRecord, type Evidence, emptyTrace, type Offer } from "../evidence.ts";
import type { PlannedCall } from "../planned-call.ts";
import type { Sleep, Watch } from "../watch.ts";
import { type ClaimDesk, createClaimDesk } from "./claim-desk.ts";
import { readClaim } from "./read-claim.ts";
import { noSuch, problemResponse, proxyPage, refuse } from "./refuse.ts";
import { createResultDesk } from "./result-desk.ts";
import { createToolShelf, type ToolShelf } from "./tool-shelf.ts";

export interface PlaneOptions {
  readonly projectId: string;
  readonly target: string;
  readonly token: string;
  readonly watch: Watch;
  readonly now: () => number;
  readonly sleep: Sleep;
}

export interface ScriptedPlane {
  readonly app: Hono;
  readonly desk: ClaimDesk;
  readonly shelf: ToolShelf;
  /** Makes the call known; giving it out is the desk's. */
  add(call: PlannedCall): CallRecord;
  openCard(record: CallRecord): void;
  seen(): Omit<Evidence, "target" | "toolName" | "argumentsDiffer">;
}

const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** As the real plane's: long enough that nobody loses one by accident. */
const LEASE_MS = 30_000;
/** A claim for another target waits as long: it gets nothing, and should not ask without pause. */
const OTHER_TARGET_MS = 500;
const PROJECT = "/projects/:project";

const readRecord = async (request: Request): Promise<Readonly<Record<string, unknown>>> => {
  const body = tryParseJsonStrict(await readBody(request, MAX_BODY_BYTES), { maxBytes: MAX_BODY_BYTES });
  return isRecord(body) ? body : {};
};

/** Cards read by their own id come without `__type__`; only the service route shows it. */
const withoutKind = (card: JsonObject): JsonObject => {
  if (!isRecord(card.content)) return card;
  const { __type__: _kind, ...content } = card.content as JsonObject;
  return { ...card, content };
};

export const createScriptedPlane = (options: PlaneOptions): ScriptedPlane => {
  const { projectId, target, watch, now } = options;
  const requests: Evidence["requests"][number][] = [];
  const claims: Evidence["claims"][number][] = [];
  const registrations: Evidence["registrations"][number][] = [];
  const records: CallRecord[] = [];
  const strays: Offer[] = [];
  const gates = new Map<CallRecord, AbortController>();
  let order = 0;
  const nextOrder = (): number => {
    order += 1;
    return order;
  };

  const findByCall = (id: string): CallRecord | undefined =>
    records.find(({ call }) => id !== "" && (call.ids.callId === id || call.ids.otherCallId === id));
  const findByLease = (id: string): CallRecord | undefined => records.find(({ call }) => call.ids.leaseId === id);
  const shelf = createToolShelf(projectId, (registration) => registrations.push(registration));
  const results = createResultDesk({ findByCall, findByLease, onStray: (offer) => strays.push(offer), nextOrder });
  const desk = createClaimDesk(options.sleep, (calls) => {
    for (const call of calls) {
      const record = records.find((known) => known.call === call);
      if (record !== undefined) record.trace.deliveries += 1;
    }
    watch.changed();
  });

  const leaseEnd = ({ script }: PlannedCall): string => new Date(now() + (script.leaseMs ?? LEASE_MS)).toISOString();

  const claim = async (context: Context): Promise<Response> => {
    const asked = readClaim(await readRecord(context.req.raw));
    const claimTarget = context.req.param("target") ?? "";
    claims.push({ target: claimTarget, max: asked.max, fault: asked.fault });
    watch.changed();
    if (claimTarget !== target) {
      await options.sleep(Math.min(asked.waitMs, OTHER_TARGET_MS), context.req.raw.signal);
      return Response.json({ commands: [] });
    }
    const answer = await desk.claim({ ...asked, signal: context.req.raw.signal });
    if (answer.kind === "trouble")
      return answer.trouble === "server_error" ? proxyPage() : new Response('{"commands": [{"subj', { status: 200 });
    const commands = answer.calls.map((call) => ({
      ...call.command,
      lease: { id: call.ids.leaseId, expires_at: leaseEnd(call) },
      run_deadline: new Date(now() + LEASE_MS).toISOString(),
      attempt: 1,
    }));
    return Response.json({ commands });
  };

  const readCard = async (
    record: CallRecord | undefined,
    signal: AbortSignal,
    show: (card: JsonObject) => JsonObject = (card) => card,
  ): Promise<Response> => {
    if (record === undefined) return noSuch("call of that id");
    record.trace.cardReads.push(nextOrder());
    watch.changed();
    const gate = gates.get(record);
    if (gate !== undefined) await untilAborted(AbortSignal.any([gate.signal, signal]));
    if (signal.aborted) record.trace.cardsGivenUp += 1;
    return record.call.card === undefined ? noSuch("card of that call") : Response.json(show(record.call.card));
  };

  const beat = (record: CallRecord | undefined): Response => {
    if (record === undefined) return noSuch("call of that id");
    const answer = record.call.script.heartbeat ?? "renewed";
    record.trace.heartbeats.push({ order: nextOrder(), answer });
    if (answer === "lost") return refuse("lease_lost");
    return Response.json({ expires_at: leaseEnd(record.call), cancel: answer === "canceled" });
  };

  const app = new Hono();
  app.use(async (context, next) => {
    const hasToken = context.req.header("authorization") === `Bearer ${options.token}`;
    requests.push({ method: context.req.method, path: context.req.path, hasToken, known: true });
    await next();
    watch.changed();
  });
  app.get("/health", () => Response.json({ status: "ok" }));
  app.get("/live", () => Response.json({ status: "ok" }));
  app.get(PROJECT, () => Response.json({ project_id: projectId, title: "conform", status: "active" }));
  app.post(`${PROJECT}/tools`, (context) => shelf.register(context.req.raw));
  app.get(`${PROJECT}/tools`, () => shelf.list());
  app.get(`${PROJECT}/tools/:tool`, (context) => shelf.show(context.req.param("tool")));
  app.post(`${PROJECT}/tool-services/:target/claim`, claim);
  app.get(`${PROJECT}/calls/:call/card`, (context) =>
    readCard(findByCall(context.req.param("call")), context.req.raw.signal),
  );
  app.get(`${PROJECT}/cards/:card`, (context) =>
    readCard(
      records.find(({ call }) => call.ids.cardId === context.req.param("card")),
      context.req.raw.signal,
      withoutKind,
    ),
  );
  app.post(`${PROJECT}/calls/:call/heartbeat`, (context) => beat(findByCall(context.req.param("call"))));
  app.post(`${PROJECT}/calls/:call/release`, (context) => {
    const record = findByCall(context.req.param("call"));
    if (record !== undefined) record.trace.releases += 1;
    return Response.json({ released: true });
  });
  app.post(`${PROJECT}/calls/:call/parts`, () => Response.json({ accepted: 1 }, { status: 202 }));
  app.post(`${PROJECT}/calls/:call/result`, async (context) =>
    results.takeResult(context.req.param("call"), await readRecord(context.req.raw), context.req.raw.headers),
  );
  // A service that lost the call's name asks for nobody's: taken down like any other result, by its lease.
  app.post(`${PROJECT}/calls//result`, async (context) =>
    results.takeResult("", await readRecord(context.req.raw), context.req.raw.headers),
  );
  app.on(["GET", "POST"], `${PROJECT}/calls//:what`, () => noSuch("call without a name"));
  app.post(`${PROJECT}/cards`, async (context) => results.takeCard(await readRecord(context.req.raw)));
  app.post(`${PROJECT}/reports`, async (context) =>
    results.takeReport(await readRecord(context.req.raw), context.req.raw.headers),
  );
  app.notFound((context) => {
    const request = requests.findLast(({ path, method }) => path === context.req.path && method === context.req.method);
    if (request !== undefined) request.known = false;
    return noSuch(`route ${context.req.path}`);
  });
  app.onError((error) =>
    problemResponse(error instanceof ToolplaneError ? error : new ToolplaneError("internal_error", "conform failed")),
  );

  return {
    app,
    desk,
    shelf,
    add(call) {
      const record: CallRecord = { call, trace: emptyTrace() };
      records.push(record);
      if (call.script.holdCard === true) gates.set(record, new AbortController());
      return record;
    },
    openCard: (record) => gates.get(record)?.abort(),
    seen: () => ({ requests, claims, registrations, calls: records, strays }),
  };
};

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
