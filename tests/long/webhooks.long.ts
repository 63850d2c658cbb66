// Webhooks of a server that is killed: between the settlement of calls and their deliveries, and while receivers have the deliveries in
// hand. After the restart every delivery arrives, each under one id, on both buses. The figures go to docs/records/webhooks.md.

import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { until } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { BUSES, openPlane } from "../up/plane.ts";

const CALLS = 30;
/** A delivery whose process died is sent again when its lease of 60 s is over. */
const PATIENCE_MS = 240_000;
const ROLES = "api,worker,pmo,tools";

interface Got {
  readonly deliveryId: string;
  /** The call or the turn it is about. */
  readonly about: string;
  readonly event: string;
  taken: boolean;
}

const startReceiver = async () => {
  const got: Got[] = [];
  let isTaking = true;
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on("end", () => {
      const { event, data } = JSON.parse(text);
      const about = event === "turn.ended" ? data.agent_turn_id : data.tool_call_id;
      const one = { deliveryId: String(request.headers["webhook-id"]), about, event, taken: isTaking };
      got.push(one);
      if (isTaking) response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    got,
    port: (server.address() as AddressInfo).port,
    /** Requests that come while it does not take have no answer. */
    take: (yes: boolean) => {
      isTaking = yes;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

test.each(BUSES)("[API-webhook-1] a server that is killed loses no delivery: %s", async (bus) => {
  await using receiver = await startReceiver();
  await using plane = await openPlane(bus);
  const origin = `http://127.0.0.1:${receiver.port}`;
  writeFileSync(
    join(plane.root, "toolplane.yaml"),
    `project: demo\nwebhooks: { allow_hosts: [127.0.0.1] }\negress: { allow: ["${origin}"] }\n`,
  );
  const start = () => plane.up(ROLES, "--demo");
  const wanted = new Set<string>();
  const work = async (up: ReturnType<typeof start>): Promise<void> => {
    const call = async (): Promise<void> => {
      const { body } = await up.request("POST", "/projects/demo/calls", {
        ...{ tool_name: "echo", arguments: { text: "x" }, wait_seconds: 60 },
      });
      expect(body.status).toBe("success");
      wanted.add(body.tool_call_id);
    };
    await Promise.all(Array.from({ length: CALLS }, call));
    const turn = { instruction: "to be or not to be", wait_seconds: 60 };
    const { body } = await up.request("POST", "/projects/demo/agents/helper/turns", turn);
    expect(body.status).toBe("success");
    wanted.add(body.agent_turn_id);
  };
  const missing = (): readonly string[] => {
    const taken = new Set(receiver.got.filter((one) => one.taken).map(({ about }) => about));
    return [...wanted].filter((about) => !taken.has(about));
  };

  let up = start();
  const made = await up.request("POST", "/projects/demo/webhooks", {
    ...{ url: `${origin}/`, secret: "a-secret-of-this-webhook", events: ["call.settled", "turn.ended"] },
  });
  expect(made.status).toBe(201);
  const rows: string[] = [];
  // Killed as soon as the callers have their answers, and killed while the receiver has deliveries and has not answered.
  for (const isInHand of [false, true]) {
    receiver.take(false);
    await work(up);
    const before = receiver.got.length;
    if (isInHand) await until("a delivery in hand", () => receiver.got.length > 0, PATIENCE_MS);
    await up.killGroup();
    const undelivered = missing().length;
    expect(undelivered).toBeGreaterThanOrEqual(CALLS);
    receiver.take(true);
    const began = performance.now();
    up = start();
    await until("every delivery", () => missing().length === 0, PATIENCE_MS);
    const seconds = Math.round((performance.now() - began) / 1_000);
    rows.push(
      `${isInHand ? "in hand" : "settled"}: sent before ${before}, missing ${undelivered}, all after ${seconds} s`,
    );
  }
  const idsOf = (about: string) =>
    new Set(receiver.got.filter((one) => one.about === about).map((one) => one.deliveryId));
  expect([...wanted].map((about) => idsOf(about).size)).toEqual(Array(wanted.size).fill(1));
  const repeated = receiver.got.length - wanted.size;
  process.stderr.write(
    `${bus}: ${rows.join("; ")}; ${wanted.size} deliveries, ${repeated} came again with the same id\n`,
  );
  expect(receiver.got.filter(({ event }) => event === "turn.ended").length).toBeGreaterThanOrEqual(2);
});
