import type { NatsRequest, Responder } from "@toolplane/bus/nats";
import type { Log } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { beOnlyPlane } from "./only-plane.ts";

/** A NATS that asks everybody and gives the first answer; `reconnect` as if it had been away. */
const createFakeNats = () => {
  const responders: Responder[] = [];
  const listeners: (() => void)[] = [];
  return {
    reconnect: () => {
      for (const listener of listeners) listener();
    },
    link: {
      async request(request: NatsRequest) {
        const answers = await Promise.all(responders.map((respond) => respond({ ...request, reply: "_INBOX.a.1" })));
        const first = answers.find((answer) => answer !== undefined);
        if (first === undefined)
          throw new ToolplaneError("upstream_unavailable", "no process listens on this NATS subject");
        return first;
      },
      async respond(_: string, queue: string, responder: Responder) {
        expect(queue).toMatch(/^[\w-]+$/);
        responders.push(responder);
        return { stop: async () => undefined };
      },
      onReconnect(listener: () => void) {
        listeners.push(listener);
        return () => undefined;
      },
    },
  };
};

const createLines = () => {
  const lines: string[] = [];
  const note = (message: string): void => void lines.push(message);
  const log: Log = { info: note, warn: note, error: note };
  return { lines, log };
};

const A1 = { id: "1-a", process: "process 1 on one" };
const A2 = { id: "1-a", process: "process 2 on two" };
const B = { id: "1-b", process: "process 3 on three" };

describe("one plane per NATS", () => {
  test("[UP-9-11] processes of one database stand beside each other; one of another database is refused", async () => {
    const { link, reconnect } = createFakeNats();
    const { log, lines } = createLines();
    await beOnlyPlane(link, A1, log);
    await beOnlyPlane(link, A2, log);
    await expect(beOnlyPlane(link, B, log)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("process 1 on one"),
    });
    reconnect();
    await new Promise((resolve) => setImmediate(resolve));
    expect(lines).toEqual([]);
  });

  test("[UP-9-11] two that could not see each other say so when they can", async () => {
    const nats = createFakeNats();
    const { log, lines } = createLines();
    const deaf = { ...nats.link, request: () => Promise.reject(new ToolplaneError("upstream_unavailable", "away")) };
    await beOnlyPlane(nats.link, A1, log);
    await beOnlyPlane(deaf, B, log);
    nats.reconnect();
    await new Promise((resolve) => setImmediate(resolve));
    expect(lines).toEqual(["another plane is on this NATS too: results over NATS are lost"]);
  });

  test("[UP-9-11] a user who may not ask starts, and its log says which right is missing", async () => {
    const { link } = createFakeNats();
    const { log, lines } = createLines();
    const refused = { ...link, request: () => Promise.reject(new ToolplaneError("auth_failed", "may not")) };
    await beOnlyPlane(refused, A1, log);
    expect(lines).toEqual(["this NATS user may not ask whether another plane is there"]);
  });
});
