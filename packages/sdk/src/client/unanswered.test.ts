// What a client says of a call that may have been made, when its wait ends without an answer.

import { describe, expect, test } from "vitest";
import { HANG_UP, inTurn, REFUSED, STARTING, said, startLost } from "../../test/away-server.ts";
import { failure, passTime, startWorld } from "../../test/client-world.ts";
import { createManualClock } from "../../test/manual-clock.ts";
import { createApi } from "./api.ts";
import { createApiPlane } from "./connect.ts";
import type { Plane } from "./plane.ts";

describe("a call that was sent and not answered", () => {
  test("[API-6-C1] its error says that it may have been made, and names its key", async () => {
    await using world = await startWorld(inTurn(HANG_UP));
    const error = await world.waitFor(failure(world.plane.call("once", {}, { wait: 6 })));
    const key = (world.server.requests[0]?.body as { idempotency_key?: string } | undefined)?.idempotency_key;
    expect(error).toMatchObject({ code: "outcome_unknown", detail: { idempotency_key: key }, callId: undefined });
    expect(error.message).toContain("may have been made");
    expect(error.message).toContain("may be running");
  });

  test("[API-6-C1] an id that the plane gave before it went away is in the error", async () => {
    await using world = await startWorld(inTurn({ body: { tool_call_id: "c-1", status: "running" } }, HANG_UP));
    const error = await world.waitFor(failure(world.plane.call("once", {}, { wait: 6, key: "k" })));
    expect(error).toMatchObject({ code: "outcome_unknown", detail: { idempotency_key: "k" }, callId: "c-1" });
  });

  test.each(["a refused connection", "the server's word"])(
    "[API-6-C1] %s of a later try hides nothing",
    async (what) => {
      const clock = createManualClock();
      const gone = Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" });
      let tries = 0;
      const send = async (): Promise<never> => {
        tries += 1;
        throw tries === 1 ? gone : REFUSED;
      };
      const api = createApi({ url: "http://127.0.0.1:3", send, readToken: () => "secret" });
      await using alone = createApiPlane({ api, projectId: "demo", clock, random: () => 0.5 });
      await using world = await startWorld(inTurn(HANG_UP, STARTING));
      const error =
        what === "a refused connection"
          ? await passTime(clock, failure(alone.call("once", {}, { wait: 6 })))
          : await world.waitFor(failure(world.plane.call("once", {}, { wait: 6 })));
      expect(error).toMatchObject({ code: "outcome_unknown", detail: { idempotency_key: expect.any(String) } });
    },
  );

  test("[API-6-C1] [API-6-C9] each call of callMany says it", async () => {
    await using world = await startWorld(inTurn(HANG_UP));
    const many = async (): Promise<string[]> => {
      const lines: string[] = [];
      const calls = [
        { tool: "once", key: "a" },
        { tool: "once", key: "b" },
      ];
      for await (const { error } of world.plane.callMany(calls, { wait: 6 }))
        lines.push(`${error?.code} ${String(error?.detail?.idempotency_key)}`);
      return lines.toSorted();
    };
    expect(await world.waitFor(many())).toEqual(["outcome_unknown a", "outcome_unknown b"]);
  });

  test("[API-6-C1] an answer of the server stays the answer", async () => {
    await using world = await startWorld(
      inTurn(HANG_UP, { status: 404, body: { error: { code: "not_found", message: "x" } } }),
    );
    expect(await world.waitFor(failure(world.plane.call("once")))).toMatchObject({ code: "not_found" });
    world.server.answer = inTurn(said("rate_limited", { retry_after_seconds: 40 }));
    const limited = await failure(world.plane.call("once", {}, { wait: 6 }));
    expect([limited.code, limited.retryable]).toEqual(["rate_limited", true]);
  });

  test("[API-6-C1] one that was never sent is not in doubt, and names its key", async () => {
    const { plane, clock } = startLost();
    const error = await passTime(clock, failure(plane.call("once", {}, { key: "k" })));
    expect(error).toMatchObject({ code: "upstream_unavailable", detail: { idempotency_key: "k" } });
    expect(error.detail?.todo).toContain("toolplane up");
  });
});

test.each([
  ["wait", (plane: Plane) => plane.wait("c-7", { wait: 1 })],
  ["read", (plane: Plane) => plane.read("c-7")],
  ["why", (plane: Plane) => plane.why("c-7")],
  ["cancel", (plane: Plane) => plane.cancel("c-7")],
])("[API-6-C9] an error of %s has the id that it was given", async (_, ask) => {
  await using world = await startWorld(() => ({
    status: 404,
    body: { error: { code: "not_found", message: "none" } },
  }));
  expect(await failure(ask(world.plane))).toMatchObject({ code: "not_found", message: "none", callId: "c-7" });
});
