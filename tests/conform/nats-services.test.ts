// conform over NATS as people use it: on this project's own services, on servers it may not use, on services that show
// themselves late or not at all.

import { fileURLToPath } from "node:url";
import { openBareNats } from "@toolplane/bus/nats";
import { serveTools, silentLog } from "@toolplane/sdk";
import type { ConformOptions } from "@toolplane/server/internal";
import { RIGHT_NATS_SERVICES, startPlainService } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import {
  type ConformReport,
  conform,
  countWords,
  createTerminal,
  failedIn,
  faultsIn,
  launchPlain,
  TARGET,
} from "./conform-run.ts";
import { type NatsAccounts, startNatsAccounts } from "./nats-accounts.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PYTHON = ["python3", "examples/nats-python/service.py"];
const log = { info: () => {}, warn: () => {}, error: () => {} };

let nats: NatsAccounts;
beforeAll(async () => {
  nats = await startNatsAccounts(12);
});
afterAll(async () => {
  await nats[Symbol.asyncDispose]();
});

const report = async (options: Partial<ConformOptions>): Promise<ConformReport> => {
  const terminal = createTerminal({ cwd: ROOT, env: { PATH: process.env.PATH ?? "", PYTHONDONTWRITEBYTECODE: "1" } });
  const code = await conform({ http: false, natsUrl: nats.next(), ...options, json: true }, terminal);
  const said = JSON.parse(terminal.out()) as ConformReport;
  expect(code, terminal.err()).toBe(failedIn(said).length === 0 ? 0 : 1);
  return said;
};

describe("this project's own services", () => {
  test.concurrent("[API-conform-nats] the Python service that only knows NATS, leased", async ({ expect }) => {
    const said = await report({ target: "letters", command: PYTHON });
    expect(faultsIn(said)).toEqual([]);
    expect([said.steps, said.summary]).toEqual(["one", { pass: 40, fail: 0, not_applicable: 8 }]);
  });

  test.concurrent("[API-conform-nats] the Python service that only knows NATS, plain", async ({ expect }) => {
    const said = await report({ target: "letters_plain", command: [...PYTHON, "--plain"] });
    expect(faultsIn(said)).toEqual([]);
    expect([said.steps, said.summary]).toEqual(["two", { pass: 37, fail: 0, not_applicable: 11 }]);
  });

  test.concurrent("[API-conform-nats] the same, fetching from the durable", async ({ expect }) => {
    const said = await report({ target: "letters_plain", command: [...PYTHON, "--plain", "--durable"] });
    expect(faultsIn(said)).toEqual([]);
    expect([said.steps, said.summary]).toEqual(["two", { pass: 40, fail: 0, not_applicable: 8 }]);
  });

  test.concurrent("[API-conform-nats] serveTools with an address of NATS", async ({ expect }) => {
    const said = await report({
      launch: async ({ variables }) => {
        const options = { target: TARGET, env: variables, log: silentLog, handleSignals: false };
        const serving = await serveTools([countWords], options);
        return { exited: serving.finished.then(() => "stopped"), stop: () => serving.stop({ drainMs: 0 }) };
      },
    });
    expect(faultsIn(said)).toEqual([]);
    expect(said.steps).toBe("one");
  });
});

test("[API-conform-nats-listens] a service that registers nothing and only listens needs --tool and --arguments", async () => {
  const plain = RIGHT_NATS_SERVICES.find(({ name }) => name === "plain");
  const habits = { ...(plain ?? RIGHT_NATS_SERVICES[0])?.habits, definitions: () => [] };
  const silent = launchPlain({ name: "silent", habits: habits as Parameters<typeof startPlainService>[0] });
  const said = await report({ ...silent, tool: "count_words", arguments: '{"text": "one"}', leaseMs: 300 });
  expect(faultsIn(said)).toEqual([]);
  expect(said.clauses.find(({ id }) => id === "UTP-C23")).toMatchObject({ verdict: "not-applicable" });

  const terminal = createTerminal();
  expect(await conform({ ...silent, http: false, natsUrl: nats.next(), connectMs: 300 }, terminal)).toBe(3);
  expect(terminal.err()).toBe(
    "toolplane: the service never connected: it reads TOOLPLANE_URL, TOOLPLANE_NATS_URL, TOOLPLANE_PROJECT, TOOLPLANE_TARGET\n",
  );
});

test("[API-conform-nats-env] without a command the variables are printed, and the service is waited for", async () => {
  const natsUrl = nats.next();
  const terminal = createTerminal();
  const done = conform({ http: false, natsUrl, leaseMs: 300 }, terminal);
  await expect.poll(() => terminal.out()).toContain("TOOLPLANE_TARGET=");
  expect(terminal.out().trimEnd().split("\n")).toEqual([
    `TOOLPLANE_URL=${natsUrl}`,
    `TOOLPLANE_NATS_URL=${natsUrl}`,
    "TOOLPLANE_PROJECT=conform",
    `TOOLPLANE_TARGET=${TARGET}`,
  ]);
  const connection = { url: natsUrl, token: "", projectId: "conform", target: TARGET };
  const [leased] = RIGHT_NATS_SERVICES;
  const service = startPlainService((leased as (typeof RIGHT_NATS_SERVICES)[number]).habits, connection);
  expect(await done).toBe(0);
  await service.stop();
  expect(terminal.out()).toContain("text/count_words: 40 pass, 0 fail, 8 not applicable");
});

describe("the server", () => {
  const STREAM = { name: "cg_cmd_v1r4", subjects: ["cg.v1r4.*.*.cmd.*.*.>"], storage: "memory" };
  const DURABLE = { stream_name: STREAM.name, config: { durable_name: "tool_text", ack_policy: "explicit" } };

  test("[API-conform-nats-server] with a plane on it is left alone, and nothing is changed there", async () => {
    const natsUrl = nats.next();
    const bare = await openBareNats({ url: natsUrl, name: "plane" }, { log });
    const api = (subject: string, body: object = {}) =>
      bare.ask(`$JS.API.${subject}`, JSON.stringify(body), { timeoutMs: 5_000 });
    await api(`STREAM.CREATE.${STREAM.name}`, STREAM);
    await api(`CONSUMER.DURABLE.CREATE.${STREAM.name}.tool_text`, DURABLE);
    await expect(conform({ http: false, natsUrl })).rejects.toThrow(
      "a plane uses this NATS server (stream cg_cmd_v1r4 with tool_text)",
    );
    const { payload } = await api("STREAM.NAMES");
    await bare.close();
    expect(JSON.parse(payload)).toMatchObject({ streams: ["cg_cmd_v1r4"] });
  });

  test("[API-conform-nats-server] is as before when the run is over, also after one that was cut off", async () => {
    const natsUrl = nats.next();
    const bare = await openBareNats({ url: natsUrl, name: "observer" }, { log });
    const mark = "made by toolplane conform; may be deleted";
    await bare.ask("$JS.API.STREAM.CREATE.cg_cmd_v1r4", JSON.stringify({ ...STREAM, description: mark }), {
      timeoutMs: 5_000,
    });
    expect(await conform({ http: false, natsUrl, connectMs: 10 })).toBe(3);
    const { payload } = await bare.ask("$JS.API.STREAM.NAMES", "{}", { timeoutMs: 5_000 });
    await bare.close();
    expect(JSON.parse(payload)).toMatchObject({ total: 0 });
  });

  test("[API-conform-nats-server] that is not there, or refuses the user, is one sentence", async () => {
    const { port } = nats.server;
    await expect(conform({ http: false, natsUrl: "nats://127.0.0.1:1" })).rejects.toThrow(
      "no server answers at 127.0.0.1:1",
    );
    await expect(conform({ http: false, natsUrl: `nats://a0:wrong@127.0.0.1:${port}` })).rejects.toThrow(
      "refuses these credentials",
    );
  });
});
