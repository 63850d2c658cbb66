import { HEADERS } from "@toolplane/protocol";
import { expect, test } from "vitest";
import { settle, until } from "../../test/manual-clock.ts";
import { createNatsWorld as createWorld, START } from "../../test/nats-world.ts";
import { sampleCall } from "../../test/sample-call.ts";
import { leased, refuse, reply } from "../../test/scripted-link.ts";
import type { ClaimRequest } from "../gateway/gateway.ts";

const REQUEST: ClaimRequest = { target: "text", max: 3, waitMs: 20_000, retrySafe: true };
const { command, card } = sampleCall({});

/** The answer with one call, five seconds of lease. */
const work = (now: number) =>
  reply({ commands: [JSON.parse(leased(command, now + 5_000, card).payload) as unknown] }, 200, now);

test("[NATS-line-1] a service whose tools may all run twice attaches, waits at the gateway and fetches nothing", async () => {
  const { link, gateway, clock } = createWorld(() => leased(command, START + 15_000, card));
  const asked: unknown[] = [];
  link.giveWork = (body) => {
    asked.push(body);
    return work(clock.now());
  };
  const [claimed] = await gateway.claim({ ...REQUEST, definitions: ["hash"] });
  expect(asked).toEqual([{ max: 3, wait_seconds: 5, holder: "text@here:1", definitions: ["hash"] }]);
  expect(claimed).toMatchObject({
    lease: { id: "lease_1", expiresAt: START + 5_000, isShort: true },
    payload: command.payload,
  });
  expect([link.attached.length, link.fetches]).toEqual([1, []]);
  link.offer(command);
  await gateway.claim({ ...REQUEST, retrySafe: false, waitMs: 0 });
  expect(link.fetches).toHaveLength(1);
});

test("[NATS-line-1] the time of an answer is that of its last way, however long the question was open", async () => {
  const { link, gateway, clock } = createWorld();
  link.giveWork = async () => {
    await clock.advance(4_000);
    return work(clock.now());
  };
  const [claimed] = await gateway.claim(REQUEST);
  expect(claimed?.lease?.expiresAt).toBe(START + 9_000);
});

test("[NATS-line-1] empty answers are asked again until the time is over", async () => {
  const { link, gateway, clock } = createWorld();
  const waits: unknown[] = [];
  link.giveWork = async ({ wait_seconds }) => {
    waits.push(wait_seconds);
    await clock.advance(Number(wait_seconds) * 1_000);
    return reply({ commands: [] });
  };
  expect(await gateway.claim({ ...REQUEST, waitMs: 12_000 })).toEqual([]);
  expect(waits).toEqual([5, 5, 2]);
});

test("[NATS-line-7] an answer that comes after the service stopped is given back", async () => {
  const { link, gateway, clock } = createWorld();
  const late = Promise.withResolvers<void>();
  link.giveWork = async () => {
    await late.promise;
    return work(clock.now());
  };
  const exchanged: unknown[] = [];
  const { request } = link;
  link.request = (asked, options) => {
    if (asked.payload.includes("leaves")) exchanged.push(JSON.parse(asked.payload));
    return request(asked, options);
  };
  const stopping = new AbortController();
  const claiming = gateway.claim(REQUEST, stopping.signal);
  await settle();
  stopping.abort();
  expect(await claiming).toEqual([]);
  expect(exchanged).toEqual([{ leaves: true, holder: "text@here:1" }]);
  late.resolve();
  await until(() => link.questions.length === 1, "the call is given back");
  expect(link.questions[0]).toMatchObject({
    operation: "release",
    headers: { [HEADERS.toolCallId]: "call_1" },
    body: { lease: "lease_1" },
  });
});

test("[NATS-line-8] where the plane hands out nothing this way, commands are fetched, and the plane is asked again later", async () => {
  const { link, gateway, clock } = createWorld(() => leased(command, START + 15_000, card));
  let asked = 0;
  link.giveWork = () => {
    asked += 1;
    return refuse("bad_request", 400);
  };
  for (let round = 0; round < 2; round += 1) {
    link.offer(command);
    expect(await gateway.claim({ ...REQUEST, waitMs: 0 })).toHaveLength(1);
  }
  expect([asked, link.fetches.length]).toEqual([1, 2]);
  await clock.advance(60_000);
  link.giveWork = () => work(clock.now());
  expect(await gateway.claim(REQUEST)).toHaveLength(1);
  expect(link.fetches).toHaveLength(2);
});

test("[NATS-line-1] a plane that answers at once with nothing is not asked without a pause", async () => {
  const { link, gateway } = createWorld();
  let asked = 0;
  link.giveWork = () => {
    asked += 1;
    return reply({ commands: [] });
  };
  expect(await gateway.claim(REQUEST)).toEqual([]);
  expect(asked).toBe(1);
});

test("[NATS-line-8] any other failure is the claim's", async () => {
  const { link, gateway } = createWorld();
  link.giveWork = () => refuse("storage_error", 500);
  await expect(gateway.claim(REQUEST)).rejects.toMatchObject({ code: "storage_error" });
  expect(link.fetches).toEqual([]);
});
