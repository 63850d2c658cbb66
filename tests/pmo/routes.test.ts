// Commands the project manager does not take, through the runner.

import { codeOf } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { startPmoWorld, WORKER } from "./pmo-world.ts";

describe("commands that are not for it", () => {
  test("[UTP-11.1-1] a command that inlines args or a call id is refused, and its call fails", async () => {
    for (const extra of [{ args: {} }, { tool_call_id: "x" }]) {
      await using world = await startPmoWorld();
      const { toolCallId } = await world.ask("delegate_async", { ...WORKER });
      const [leased] = await world.claim();
      const forged = leased && {
        ...leased,
        command: { ...leased.command, payload: { ...leased.command.payload, ...extra } },
      };
      expect(forged && (await world.run(forged))).toMatchObject({ outcome: "settled", status: "failed" });
      expect((await world.resultOf(toolCallId)).error).toMatchObject({
        code: "bad_request",
        detail: { refused: expect.any(String) },
      });
    }
  });

  test.each([
    [
      "[UTP-11.1-4] an unknown function",
      { subject: "cg.v1r4.factory.public.cmd.sys.pmo.internal.dismiss" },
      "not_implemented",
    ],
    [
      "[UTP-11.1-4] another route",
      { subject: "cg.v1r4.factory.public.cmd.sys.pmo.open.delegate_async" },
      "unsupported_pmo_route",
    ],
    [
      "[UTP-11.1-7] another tool's route",
      { subject: "cg.v1r4.factory.public.cmd.sys.pmo.internal.fork_join" },
      "bad_request",
    ],
  ])("%s is refused by name", async (_name, change, code) => {
    await using world = await startPmoWorld();
    const { toolCallId } = await world.ask("delegate_async", { ...WORKER });
    const [leased] = await world.claim();
    const forged = leased && { ...leased, command: { ...leased.command, ...change } };
    await (forged && world.run(forged));
    expect((await world.resultOf(toolCallId)).error).toMatchObject({ code });
  });

  test("arguments that break the tool's schema never reach it", async () => {
    await using world = await startPmoWorld();
    expect(await codeOf(world.ask("delegate_async", { target_strategy: "steal" }))).toBe("bad_request");
  });
});
