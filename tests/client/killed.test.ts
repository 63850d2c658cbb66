// The server dies without warning in the middle of a client's calls, and comes back.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool, serveTools, silentLog } from "@toolplane/sdk";
import { connect } from "@toolplane/sdk/client";
import { openPlane } from "@toolplane/server";
import { eventually } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { makePlace } from "../up/data.ts";
import { startUp } from "../up/up-process.ts";

const CALLS = 120;

test("[API-6-C5] [API-6-L3] a server that is killed and started again answers every call once; its data is its own", async () => {
  await using place = await makePlace();
  await using first = startUp({ dataDir: place.dataDir, args: ["--demo"] });
  const url = await first.ready();
  const token = readFileSync(join(place.dataDir, "token"), "utf8").trim();
  await expect(openPlane({ data: place.dataDir, env: {} })).rejects.toMatchObject({
    code: "conflict",
    message: `already running: process ${first.pid} serves ${url} from ${place.dataDir}`,
  });
  const gate = Promise.withResolvers<void>();
  const double = defineTool({
    ...{ name: "double", description: "Twice a number", retry: "safe", parameters: { type: "object" } },
    // Half of them wait for the server to be back.
    run: async ({ n }) => {
      if (Number(n) % 2 === 1) await gate.promise;
      return Number(n) * 2;
    },
  });
  const connection = { url, token, project: "demo" };
  const means = { handleSignals: false, log: silentLog, concurrency: CALLS };
  await using serving = await serveTools([double], { ...connection, ...means, target: "double" });
  await using plane = connect(connection);
  const answers: number[][] = [];
  const asked = Array.from({ length: CALLS }, async (_, n) => {
    answers.push([n, await plane.call<number>("double", { n }, { wait: 100 })]);
  });
  await eventually(() => answers.length > 0 && serving.running() > 0);
  await first.killGroup();
  await using again = startUp({ dataDir: place.dataDir, args: ["--port", new URL(url).port] });
  await again.ready();
  gate.resolve();
  await Promise.all(asked);
  expect(answers.toSorted(([a = 0], [b = 0]) => a - b)).toEqual(Array.from({ length: CALLS }, (_, n) => [n, n * 2]));
  const { body } = await again.request("GET", "/projects/demo/calls?tool_name=double&limit=500");
  expect(body.items.map(({ status }) => status)).toEqual(Array.from({ length: CALLS }, () => "success"));
});
