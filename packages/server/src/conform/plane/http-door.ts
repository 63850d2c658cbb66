// The scripted plane over HTTP: the documented routes, on a loopback port and nowhere else.

import { isRecord, ToolplaneError, tryParseJsonStrict } from "@toolplane/protocol";
import { type Context, Hono } from "hono";
import { readBody } from "../../http/read-body.ts";
import type { Sleep, Watch } from "../watch.ts";
import { type ClaimDesk, createClaimDesk } from "./claim-desk.ts";
import { answerExchange, itemsIn } from "./exchange-desk.ts";
import { listenOnLoopback } from "./listen.ts";
import { readClaim } from "./read-claim.ts";
import { noSuch, problemResponse, proxyPage } from "./refuse.ts";
import { type ScriptedPlane, withoutKind } from "./scripted-plane.ts";
import type { ServiceDoor } from "./service-door.ts";

export interface HttpDoorOptions {
  readonly plane: ScriptedPlane;
  readonly projectId: string;
  readonly target: string;
  readonly token: string;
  readonly port: number;
  readonly watch: Watch;
  readonly sleep: Sleep;
}

const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** A claim for another target waits as long, so that the service does not ask in a tight loop. */
const OTHER_TARGET_MS = 500;
const PROJECT = "/projects/:project";

const readRecord = async (request: Request): Promise<Readonly<Record<string, unknown>>> => {
  const body = tryParseJsonStrict(await readBody(request, MAX_BODY_BYTES), { maxBytes: MAX_BODY_BYTES });
  return isRecord(body) ? body : {};
};

const createApp = (options: HttpDoorOptions, desk: ClaimDesk): Hono => {
  const { plane, projectId, target, watch } = options;
  const { books, shelf, results } = plane;

  const claim = async (context: Context, body: Readonly<Record<string, unknown>>): Promise<Response> => {
    const asked = readClaim(body);
    const claimTarget = context.req.param("target") ?? "";
    books.claims.push({ target: claimTarget, max: asked.max, fault: asked.fault });
    watch.changed();
    if (claimTarget !== target) {
      await options.sleep(Math.min(asked.waitMs, OTHER_TARGET_MS), context.req.raw.signal);
      return Response.json({ commands: [] });
    }
    const answer = await desk.claim({ ...asked, signal: context.req.raw.signal });
    if (answer.kind === "trouble")
      return answer.trouble === "server_error" ? proxyPage() : new Response('{"commands": [{"subj', { status: 200 });
    return Response.json({ commands: answer.calls.map((call) => ({ ...call.command, ...plane.termsOf(call) })) });
  };

  /** As in the real plane, an exchange with items is answered at once; only an exchange without items waits. */
  const exchange = async (context: Context): Promise<Response> => {
    const body = await readRecord(context.req.raw);
    const items = itemsIn(body);
    const answers = await answerExchange(plane, items, context.req.raw.headers);
    watch.changed();
    if ((body.max ?? 0) === 0) return Response.json({ ...answers, commands: [] });
    const wait = items.length > 0 ? 0 : (body.wait_seconds ?? 0);
    const claimed = await claim(context, { ...body, wait_seconds: wait });
    const found = claimed.ok ? tryParseJsonStrict(await claimed.clone().text()) : undefined;
    return isRecord(found) ? Response.json({ ...answers, ...found }) : claimed;
  };

  const recordIn = (context: Context) => plane.find({ call: context.req.param("call") });
  const app = new Hono();
  app.use(async (context, next) => {
    const hasToken = context.req.header("authorization") === `Bearer ${options.token}`;
    books.requests.push({ method: context.req.method, path: context.req.path, hasToken, known: true });
    await next();
    watch.changed();
  });
  app.get("/health", () => Response.json({ status: "ok" }));
  app.get("/live", () => Response.json({ status: "ok" }));
  app.get(PROJECT, () => Response.json({ project_id: projectId, title: "conform", status: "active" }));
  app.post(`${PROJECT}/tools`, (context) => shelf.register(context.req.raw));
  app.get(`${PROJECT}/tools`, () => shelf.list());
  app.get(`${PROJECT}/tools/:tool`, (context) => shelf.show(context.req.param("tool")));
  app.post(`${PROJECT}/tool-services/:target/claim`, async (context) =>
    claim(context, await readRecord(context.req.raw)),
  );
  app.post(`${PROJECT}/tool-services/:target/exchange`, exchange);
  app.get(`${PROJECT}/calls/:call/card`, (context) => plane.readCard(recordIn(context), context.req.raw.signal));
  app.get(`${PROJECT}/cards/:card`, (context) =>
    plane.readCard(plane.find({ card: context.req.param("card") }), context.req.raw.signal, withoutKind),
  );
  app.post(`${PROJECT}/calls/:call/heartbeat`, (context) => plane.beat(recordIn(context)));
  app.post(`${PROJECT}/calls/:call/release`, (context) => plane.release(recordIn(context)));
  app.post(`${PROJECT}/calls/:call/parts`, () => Response.json({ accepted: 1 }, { status: 202 }));
  app.post(`${PROJECT}/calls/:call/result`, async (context) =>
    results.takeResult(context.req.param("call"), await readRecord(context.req.raw), context.req.raw.headers),
  );
  // The service lost the call's name; the result is recorded by its lease.
  app.post(`${PROJECT}/calls//result`, async (context) =>
    results.takeResult("", await readRecord(context.req.raw), context.req.raw.headers),
  );
  app.on(["GET", "POST"], `${PROJECT}/calls//:what`, () => noSuch("call without a name"));
  app.post(`${PROJECT}/cards`, async (context) => results.takeCard(await readRecord(context.req.raw)));
  app.post(`${PROJECT}/reports`, async (context) =>
    results.takeReport(await readRecord(context.req.raw), context.req.raw.headers),
  );
  app.notFound((context) => {
    const { path, method } = context.req;
    const request = books.requests.findLast((one) => one.path === path && one.method === method);
    if (request !== undefined) request.known = false;
    return noSuch(`route ${path}`);
  });
  app.onError((error) =>
    problemResponse(error instanceof ToolplaneError ? error : new ToolplaneError("internal_error", "conform failed")),
  );
  return app;
};

export const openHttpDoor = async (options: HttpDoorOptions): Promise<ServiceDoor> => {
  const { plane, projectId, target, token, watch } = options;
  const desk = createClaimDesk(options.sleep, (calls) => {
    for (const call of calls) {
      const record = plane.recordOf(call);
      if (record !== undefined) record.trace.deliveries += 1;
    }
    watch.changed();
  });
  const { url, close } = await listenOnLoopback(createApp(options, desk), options.port);
  const variables = { TOOLPLANE_URL: url, TOOLPLANE_TOKEN: token, TOOLPLANE_PROJECT: projectId };
  return {
    connection: { url, token, projectId, variables },
    give: (batch) => desk.give(batch),
    arrivals: () => plane.books.claims.filter((claim) => claim.target === target).length,
    async breakClaims() {
      desk.spoil(["server_error", "cut_json"]);
    },
    areClaimsBack: () => desk.spoiled() === 0,
    claimMs: () => 0,
    async clear() {
      desk.clear();
    },
    async close() {
      desk.close();
      await close();
    },
  };
};
