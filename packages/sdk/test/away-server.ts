// What a client meets while its server is away, for tests.

import { createApi } from "../src/client/api.ts";
import { createApiPlane } from "../src/client/connect.ts";
import { createManualClock } from "./manual-clock.ts";
import type { Answerer } from "./scripted-server.ts";

export const HANG_UP = { hangUp: true } as const;
export const REFUSED = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:3"), { code: "ECONNREFUSED" });
export const said = (code: string, detail: object = {}) => ({
  status: 503,
  body: { error: { code, message: "said by the server", detail } },
});
export const STARTING = said("storage_error", { retry_after_seconds: 1 });

/** Each answer once, the last one from then on. */
export const inTurn =
  (...answers: ReturnType<Answerer>[]): Answerer =>
  () =>
    answers.length > 1 ? answers.shift() : answers[0];

/** A client whose requests never find a server, and when it asked, in seconds. */
export const startLost = () => {
  const clock = createManualClock();
  const began = clock.now();
  const asked: number[] = [];
  const send = async (): Promise<never> => {
    asked.push((clock.now() - began) / 1_000);
    throw REFUSED;
  };
  const api = createApi({ url: "http://127.0.0.1:3", send, readToken: () => "secret" });
  return { clock, asked, plane: createApiPlane({ api, projectId: "demo", clock, random: () => 0.5 }) };
};
