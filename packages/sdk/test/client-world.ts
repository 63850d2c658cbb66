// A client and the server that a test writes for it, with a clock that the test moves.

import { isToolplaneError, type ToolplaneError } from "@toolplane/protocol";
import { expect } from "vitest";
import { createApi } from "../src/client/api.ts";
import { createApiPlane } from "../src/client/connect.ts";
import type { Plane } from "../src/client/plane.ts";
import { createHttpPool } from "../src/http/pool.ts";
import { createManualClock, type ManualClock, settle } from "./manual-clock.ts";
import { type Answerer, createScriptedServer, type ScriptedServer } from "./scripted-server.ts";

export interface World extends AsyncDisposable {
  readonly server: ScriptedServer;
  readonly plane: Plane;
  readonly clock: ManualClock;
  /** The requests so far, by method and path. */
  asked(): readonly string[];
  /** Moves the clock, a second at a time, until the promise is settled. */
  waitFor<T>(promise: Promise<T>): Promise<T>;
}

const MINUTES = 2;

export const passTime = async <T>(clock: ManualClock, promise: Promise<T>): Promise<T> => {
  let over = false;
  void promise.finally(() => {
    over = true;
  });
  for (let second = 0; second < MINUTES * 60 && !over; second += 1) {
    await clock.advance(1_000);
    await settle(50);
  }
  expect(over).toBe(true);
  return promise;
};

export const startWorld = async (answer: Answerer): Promise<World> => {
  const server = await createScriptedServer(answer);
  const clock = createManualClock();
  const pool = createHttpPool({ url: server.url });
  const api = createApi({ url: server.url, send: pool.send, readToken: () => "secret" });
  const plane = createApiPlane({ api, projectId: "demo", clock, random: () => 0.5, close: pool.close });
  return {
    server,
    plane,
    clock,
    waitFor: (promise) => passTime(clock, promise),
    asked: () => server.requests.map(({ method, path }) => `${method} ${path.split("?")[0]}`),
    async [Symbol.asyncDispose]() {
      await plane.close();
      await server[Symbol.asyncDispose]();
    },
  };
};

export const failure = async (promise: Promise<unknown>): Promise<ToolplaneError> => {
  const error = await promise.then(
    () => expect.unreachable("it succeeded"),
    (thrown: unknown) => thrown,
  );
  if (!isToolplaneError(error)) throw error;
  return error;
};
