// Secrets on their way through a run: in by name, out by nothing.

import { describe, expect, test } from "vitest";
import { createRunnerWorld } from "../../test/runner-world.ts";
import { createEnvSecrets } from "../secrets/secret-source.ts";
import { ToolError } from "../tools/tool-error.ts";

const SECRET = "sk-canary-0123456789";
const env = { API_KEY: SECRET, OTHER: "other-value" };
const secrets = createEnvSecrets(env);
const profile = { envs: { api_key: "API_KEY" } };

describe("injection", () => {
  test("[SEC-7-S3] a declared variable is put into the arguments and into secrets", async () => {
    const seen: unknown[] = [];
    const world = createRunnerWorld({
      secrets,
      profile: { envs: { api_key: "API_KEY" }, secrets: ["OTHER"] },
      calls: [{ argsEnvs: { api_key: "API_KEY" }, args: { q: "x", api_key: "forged" } }],
      run: (call, context) => seen.push([call.arguments, context.secrets]),
    });
    await world.runner.handle(world.call.command);
    expect(seen).toEqual([
      [
        { q: "x", api_key: SECRET },
        { API_KEY: SECRET, OTHER: "other-value" },
      ],
    ]);
  });

  test("[SEC-7-S3] a variable the code does not declare is refused before the tool runs", async () => {
    const world = createRunnerWorld({ secrets, profile, calls: [{ argsEnvs: { q: "OTHER" } }] });
    expect(await world.runner.handle(world.call.command)).toMatchObject({ status: "failed", code: "auth_failed" });
    expect(world.runs()).toBe(0);
  });

  test("[SEC-7-S4] a variable that is not set is auth_failed, not an anonymous call", async () => {
    const world = createRunnerWorld({ secrets: createEnvSecrets({}), profile });
    expect(await world.runner.handle(world.call.command)).toMatchObject({ status: "failed", code: "auth_failed" });
    expect(world.runs()).toBe(0);
  });

  test("a source that hangs is bounded by the deadline", async () => {
    const world = createRunnerWorld({ secrets: () => new Promise(() => {}), profile });
    const handled = world.runner.handle(world.call.command);
    await world.clock.advance(30_000);
    expect(await handled).toMatchObject({ status: "timeout" });
  });
});

describe("nothing leaves", () => {
  const leaks = [
    SECRET,
    encodeURIComponent(SECRET),
    Buffer.from(SECRET).toString("base64"),
    Buffer.from(`user:${SECRET}`).toString("base64"),
    JSON.stringify({ deep: SECRET }),
  ];

  test.each(leaks)("[ARCH-7-10] [INV-I8-S1] [INV-I8-S3] result, error, detail, log and parts: %s", async (leak) => {
    const world = createRunnerWorld({
      secrets,
      profile,
      mode: "two-step",
      calls: [{ callId: "call_1" }, { callId: "call_2" }],
      run: ({ toolCallId }, { emit, log }) => {
        log.warn(`using ${leak}`, { header: leak });
        emit({ text: leak });
        emit(leak.slice(0, 9));
        emit(leak.slice(9));
        if (toolCallId === "call_1")
          throw new ToolError("odd", `refused ${leak}`, { detail: { url: `https://x/?k=${leak}` } });
        return { echo: leak, nested: [{ [leak]: leak }] };
      },
    });
    for (const { command } of world.calls) await world.runner.handle(command);
    const out = JSON.stringify([world.gateway.cards, world.gateway.reports, world.log.entries]);
    const parts = world.gateway.parts
      .map(({ part }) => (typeof part === "string" ? part : JSON.stringify(part)))
      .join("");
    for (const form of [
      ...leaks.slice(0, 3),
      SECRET.slice(3, 15),
      Buffer.from(SECRET).toString("base64").slice(4, 20),
    ]) {
      expect(out).not.toContain(form);
      expect(parts).not.toContain(form);
    }
    expect(out).toContain("[redacted API_KEY]");
    expect(world.gateway.cards).toHaveLength(2);
    expect(world.gateway.parts).toHaveLength(6);
  });

  test("[SEC-7-S2] a part that was held back because it might have begun a secret leaves when the run ends", async () => {
    const world = createRunnerWorld({
      secrets,
      profile,
      run: (_call, { emit }) => emit(`ends with ${SECRET.slice(0, 4)}`),
    });
    await world.runner.handle(world.call.command);
    expect(world.gateway.parts).toEqual([{ index: 0, part: "ends with sk-c" }]);
  });

  test("[INV-I8-S4] the service's own token is scrubbed although no tool declared it", async () => {
    const world = createRunnerWorld({
      ownSecrets: new Map([["TOOLPLANE_TOKEN", "tp_0123456789"]]),
      run: () => ({ env: { TOOLPLANE_TOKEN: "tp_0123456789" } }),
    });
    await world.runner.handle(world.call.command);
    expect(world.gateway.settled[0]?.result).toEqual({ env: { TOOLPLANE_TOKEN: "[redacted TOOLPLANE_TOKEN]" } });
  });

  test("[INV-I8-S1] the message of a tool that is tried again is scrubbed in the log", async () => {
    const world = createRunnerWorld({
      secrets,
      profile: { ...profile, retry: "safe" },
      run: ({ attempt }) => {
        if (attempt === 1) throw new ToolError("upstream_unavailable", `no answer with ${SECRET}`);
      },
    });
    const handled = world.runner.handle(world.call.command);
    await world.clock.advance(1_000);
    await handled;
    expect(world.log.text()).toContain("tried again");
    expect(world.log.text()).not.toContain(SECRET);
  });
});
