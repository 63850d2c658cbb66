import type { Msg } from "@nats-io/transport-node";
import { describe, expect, test } from "vitest";
import { createAnswer } from "./answer.ts";
import type { Requests } from "./requests.ts";

const setUp = (ackWaitMs = 1_000) => {
  const said: string[] = [];
  let now = 0;
  const message = { reply: "$JS.ACK.x" } as Msg;
  const requests: Requests = {
    ask: (_, payload) => {
      said.push(String(payload));
      return Promise.resolve(message);
    },
    tell: () => {},
    lose: () => {},
    refuse: () => {},
  };
  const clock = { now: () => now, sleep: () => Promise.resolve() };
  const answer = createAnswer({ requests, clock, ackWaitMs }, message);
  return { answer, said, pass: (ms: number) => (now += ms) };
};

describe("an answer", () => {
  test("is what the server understands", async () => {
    const { answer, said } = setUp();
    await answer.ack();
    await answer.nak(0);
    await answer.nak(1_500);
    await answer.inProgress();
    await answer.term();
    expect(said).toEqual(["+ACK", "-NAK", '-NAK {"delay":1500000000}', "+WPI", "+TERM"]);
  });

  test("[BUS-10] is not given when its time is nearly over: the next delivery may be on its way", async () => {
    const { answer, said, pass } = setUp(1_000);
    // On a busy machine the server's second may have begun 190 ms before ours.
    pass(810);
    await answer.ack();
    await answer.nak(0);
    await answer.term();
    await answer.inProgress();
    await answer.ack();
    expect(said).toEqual([]);
  });

  test("has its whole time again after each sign of progress", async () => {
    const { answer, said, pass } = setUp(1_000);
    for (let pulse = 0; pulse < 5; pulse++) {
      pass(790);
      await answer.inProgress();
    }
    pass(790);
    await answer.ack();
    expect(said).toEqual(["+WPI", "+WPI", "+WPI", "+WPI", "+WPI", "+ACK"]);
  });

  test("of a long ack wait is lost to at most its last second", async () => {
    const { answer, said, pass } = setUp(3_600_000);
    pass(3_599_000);
    await answer.ack();
    expect(said).toEqual(["+ACK"]);
  });
});
