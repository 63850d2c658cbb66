// Loops of one's own over NATS, from the pieces of @toolplane/sdk/protocol: a claim loop by hand, and a plain service that
// only hears its subject. They are the examples of the guide.

import type { HeaderMap } from "@toolplane/protocol";
import { silentLog } from "@toolplane/sdk";
import {
  buildResult,
  createIds,
  createResultContext,
  hydrate,
  type OpenNatsGateway,
  openNatsToolGateway,
  planCommand,
  reportResult,
  systemClock,
} from "@toolplane/sdk/protocol";
import { toolUpload } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const ids = createIds(Date.now);

const open = (target: string): Promise<OpenNatsGateway> =>
  openNatsToolGateway({
    url: world.nats.url,
    projectId: "demo",
    actor: `tool.${target}`,
    clock: systemClock,
    random: Math.random,
    ids,
    log: silentLog,
  });

test("[API-6-N4] a claim loop by hand: command, card, result, report", async () => {
  await world.engine.tools.upsertTool("demo", toolUpload({ name: "by_hand", target: "hand" }));
  await using opened = await open("hand");
  const { gateway } = opened;
  const calling = world.call("by_hand", { n: 20 });
  const [command] = await gateway.claim({ target: "hand", max: 1, waitMs: 20_000 });
  if (command === undefined) return expect.unreachable();
  const plan = planCommand(command, { projectId: "demo", target: "hand" }, ids);
  if (plan.kind !== "accept") return expect.unreachable();
  const { payload, toolCallId } = plan;
  const found = await gateway.readCard({ cardId: payload.tool_call_card_id, toolCallId });
  const { card, context, arguments: args } = hydrate({ ...plan, found });
  const result = buildResult(
    createResultContext({
      context,
      command: payload,
      card,
      actor: "tool.hand",
      cardId: ids.uuid(),
      createdAt: new Date().toISOString(),
    }),
    { status: "success", result: { twice: Number(args.n) * 2 } },
  );
  await reportResult(gateway, { result, context, actor: "tool.hand", ids, leaseId: command.lease?.id });
  const view = await calling;
  expect(view).toMatchObject({ status: "success", attempts: 1 });
  expect(await world.resultOf(view)).toEqual({ twice: 40 });
});

test("[API-6-N4] [LIM-plain-1] a plain service: a core subscription, whatever the client, and a report; its limit holds", async () => {
  const options = { service: "plain", concurrency: 2 };
  await world.engine.tools.upsertTool("demo", toolUpload({ name: "heard", target: "ears", options }));
  const inHand = new Set<string>();
  let most = 0;
  await using opened = await open("ears");
  const { gateway, link } = opened;
  const onMessage = async (message: { subject: string; headers: HeaderMap; payload: string }): Promise<undefined> => {
    const command = { ...message, payload: JSON.parse(message.payload) as unknown };
    const plan = planCommand(command, { projectId: "demo", target: "ears" }, ids);
    if (plan.kind !== "accept") return expect.unreachable();
    const { payload, toolCallId } = plan;
    inHand.add(toolCallId);
    most = Math.max(most, inHand.size);
    // The first waits for the second: both slots are used.
    await vi.waitUntil(() => most > 1);
    const found = await gateway.readCard({ cardId: payload.tool_call_card_id, toolCallId });
    const { card, context } = hydrate({ ...plan, found });
    const origin = { context, command: payload, card, actor: "tool.ears", cardId: ids.uuid() };
    const result = buildResult(createResultContext({ ...origin, createdAt: new Date().toISOString() }), {
      status: "success",
      result: "heard",
    });
    // From here on the plane may send another.
    inHand.delete(toolCallId);
    await reportResult(gateway, { result, context, actor: "tool.ears", ids });
  };
  const subscription = await link.respond("cg.v1r4.demo.*.cmd.tool.ears.>", "ears", onMessage);
  const views = await Promise.all(Array.from({ length: 8 }, (_, n) => world.call("heard", { n })));
  for (const view of views) expect(await world.resultOf(view)).toBe("heard");
  expect(most).toBe(2);
  await subscription.stop();
});
