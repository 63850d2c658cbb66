// What a lone call costs in statements over HTTP, its service and its caller on one server: pinned.

import { countStatements, createStandingClock, watchService } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { type HttpStack, startHttpStack } from "./http-stack.ts";
import { serveClaims } from "./serve-claims.ts";

/** What a call leaves to be done after its answer is counted with the next one. */
const ROUNDS = 5;

const call = (http: HttpStack) =>
  http.send("POST", "/projects/demo/calls", { tool_name: "safe", arguments: {}, wait_seconds: 30 });

test("[ENG-few-1] over HTTP a lone call takes four statements at most, and none of them reads", async () => {
  await using http = await startHttpStack({ clock: createStandingClock() });
  const { atRest } = watchService(http.t.engine);
  const over = new AbortController();
  const service = serveClaims(http, { b: 1, a: 2 }, over.signal).catch(() => {});
  for (let round = 0; round < 3; round++) expect((await call(http)).body).toMatchObject({ status: "success" });
  await atRest();
  const counted = countStatements([http.t.engine]);
  for (let round = 0; round < ROUNDS; round++) {
    // A call that comes before the service asks again goes through the queue.
    await atRest();
    const { body } = await call(http);
    expect(body).toMatchObject({ status: "success", result: { a: 2, b: 1 } });
    // The members of the stored card, in their order, though nothing was read back.
    expect(JSON.stringify(body.result)).toBe('{"a":2,"b":1}');
  }
  const names = counted.names();
  expect(names.length, names.join(" ")).toBeLessThanOrEqual(4 * ROUNDS);
  expect(names.filter((name) => /read|find-made|projects/.test(name))).toEqual([]);
  over.abort();
  await service;
});
