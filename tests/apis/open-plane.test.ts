// The configuration's APIs in a plane as it is started: the tools are there when the plane is ready.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPlane } from "@toolplane/server";
import { createTestDatabase, ENGINE_TEMPLATE } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { answerJson, startApiServer } from "./api-world.ts";

test("[HTTP-5-1] a plane imports the documents of its configuration before it is ready, and its client calls them", async () => {
  await using api = await startApiServer(answerJson({ temperature: 21 }));
  const database = await createTestDatabase(ENGINE_TEMPLATE);
  const place = mkdtempSync(join(tmpdir(), "toolplane-plane-"));
  try {
    writeFileSync(
      join(place, "weather.yaml"),
      "openapi: 3.1.0\npaths:\n  /weather/{city}:\n    get: { operationId: weather }\n",
    );
    writeFileSync(
      join(place, "toolplane.yaml"),
      `egress: { allow: ["${api.origin}"] }
secrets: { allow_env: [WEATHER_USER] }
openapi: [{ name: sky, spec: weather.yaml, base_url: "${api.origin}/v1", auth: { scheme: basic, env: WEATHER_USER } }]
`,
    );
    await using plane = await openPlane({
      databaseUrl: database.url,
      config: join(place, "toolplane.yaml"),
      env: { WEATHER_USER: "ann:pa55-word" },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    });
    expect(await plane.call("sky__weather", { city: "Rio de Janeiro" })).toMatchObject({ temperature: 21 });
    expect(api.asked.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ["/v1/weather/Rio%20de%20Janeiro", `Basic ${Buffer.from("ann:pa55-word").toString("base64")}`],
    ]);
  } finally {
    await database.drop();
    rmSync(place, { recursive: true, force: true });
  }
});
