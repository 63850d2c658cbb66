// `toolplane run`, `turns`, `agents`, `profiles`, `calls approve|deny` against a real server.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ModelServer, startModelServer } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Stack, startStack } from "./stack.ts";

let stack: Stack;
let model: ModelServer;
const write = (file: string, value: object): string => {
  writeFileSync(join(stack.directory, file), JSON.stringify(value));
  return file;
};
const profile = (name: string, tools: readonly string[], steps: readonly object[]) => ({
  name,
  worker_target: "worker_generic",
  allowed_tools: tools,
  llm_config: { provider: "script", script: { steps } },
});

beforeAll(async () => {
  model = await startModelServer([{ text: "Six." }]);
  // A model on this machine is asked only because the operator of the plane says so.
  stack = await startStack({ TOOLPLANE_EGRESS_ALLOW: model.origin });
  const approve = { approval: "required", retry: "safe" };
  const target_subject = "cg.v1r4.{project_id}.{channel_id}.cmd.tool.bundled.echo";
  await stack.api("POST", "/projects/demo/tools", {
    tool_name: "echo",
    description: "echo, when a person says so",
    target_subject,
    after_execution: "suspend",
    parameters: { type: "object", properties: {} },
    options: approve,
  });
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
  await model.close();
});

describe("agents on the command line", () => {
  test("[CLI-agents] the demo's helper: run, --follow, --json, and what it leaves in turns", async () => {
    const waited = await stack.run(["run", "helper", "as a team, please", "--wait", "60s"]);
    expect([waited.code, waited.out]).toEqual([0, "Two readers say: 4 words, and 7 words.\n"]);
    const started = await stack.run(["run", "helper", "once more as a team"]);
    expect(started.out).toMatch(
      /^turn turn_\w+ is (queued|dispatched|running|suspended|success); give this id to: toolplane turns show\n$/,
    );
    const followed = await stack.run(["run", "helper", "all together now", "--follow"]);
    expect(followed.code).toBe(0);
    expect(followed.out).toMatch(/^step 1$/m);
    expect(followed.out).toMatch(/^Two readers will look at it\.$/m);
    expect(followed.out.match(/Two readers say: 3 words, and 6 words\./g)).toHaveLength(1);
    // [SEE-3] The call with its arguments when it begins, its outcome when it ends, an id once per line. What the model said with the
    // call may come between the two.
    expect(followed.out).toMatch(
      /^ {2}fork_join \{"tasks":.* {2}call \w+\n(?:Two readers will look at it\.\n)? {2}fork_join success in [0-9.]+ s: /m,
    );
    const listed = await stack.run(["turns", "list", "--agent", "helper"]);
    expect(listed.out.match(/ success +helper /g)).toHaveLength(3);
    const shown = await stack.run(["turns", "show", "last"]);
    expect(shown.out).toMatch(/^status +success$/m);
    expect(shown.out).toMatch(/^instruction +all together now$/m);
    expect(shown.out).toMatch(/^ {2}Two readers will look at it\.\n {2}fork_join .*\n {4}success in .* {2}call \w+$/m);
    const turn = shown.out.match(/^turn +(\S+)$/m)?.[1] ?? "";
    expect(await stack.json("turns", "export", turn)).toMatchObject({
      format: "toolplane.turn.1",
      turn: { agent_turn_id: turn },
      steps: [{}, {}],
      next_cursor: null,
    });
    const why = await stack.run(["why", turn]);
    expect(why.out).toMatch(/^turn turn_\w+ is success: it ended after 2 steps in /);
    const trace = await stack.run(["trace", turn]);
    expect(trace.out.match(/^ {4}agent \S+ {2}success in .* {2}turn turn_\w+$/gm)).toHaveLength(2);
    expect((await stack.run(["agents"])).out.match(/active/g)).toHaveLength(1);
    const wrong = await stack.run(["run", "helper", "x", "--continue", turn, "--max-steps", "none"]);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("--max-steps takes a whole number")]);
    const next = await stack.run([
      "run",
      "helper",
      "as a team, once more",
      "--continue",
      turn,
      "--max-steps",
      "1",
      "--wait",
      "60s",
    ]);
    expect(next.code).toBe(1);
    expect(next.err).toMatch(/^turn turn_\w+ ended as failed: max_steps_reached: the agent used all its steps/);
  });

  test("[CLI-agents] profiles and agents of one's own, a person's yes and no", async () => {
    const steps = [
      { call: { tool: "echo", arguments: { hi: 1 } } },
      { when: { ok: "echo" }, finish: "allowed" },
      { finish: "not allowed" },
    ];
    const file = write("careful.json", profile("careful", ["echo"], steps));
    expect((await stack.run(["profiles", "apply", file])).out).toBe("created careful\n");
    expect((await stack.run(["agents", "create", "ann"])).code).toBe(2);
    expect((await stack.run(["agents", "create", "ann", "--profile", "careful"])).out).toBe("created ann\n");
    expect((await stack.run(["agents", "list"])).out).toMatch(/^ann +- +active +worker_generic /m);
    expect((await stack.run(["profiles", "list"])).out).toMatch(/^careful +worker_generic /m);
    for (const [verb, said] of [
      ["approve", "allowed"],
      ["deny", "not allowed"],
    ] as const) {
      await stack.run(["run", "ann", "go"]);
      const waiting = async () =>
        (await stack.api("GET", "/projects/demo/approvals")).items as { tool_call_id: string }[];
      await expect.poll(async () => (await waiting()).length).toBe(1);
      const [call] = await waiting();
      expect((await stack.run(["approvals"])).out).toMatch(/ echo +ann .* \{"hi":1\}$/m);
      const why = await stack.run(["why", call?.tool_call_id ?? ""]);
      expect(why.out).toContain("it waits for a person to approve it");
      const decided = await stack.run([
        "calls",
        verb,
        call?.tool_call_id ?? "",
        "--reason",
        "because",
        "--as",
        "Ann B.",
      ]);
      expect(decided.out).toMatch(
        verb === "approve"
          ? /^approved \S+ as Ann B\.; it is (queued|running|success)\n$/
          : /^denied \S+ as Ann B\.; it is failed\n$/,
      );
      const shown = (await stack.run(["calls", "show", call?.tool_call_id ?? ""])).out;
      expect(shown).toMatch(/^approval +(approved|denied) by Ann B\. at \S+: because$/m);
      expect((await stack.run(["audit", "list"])).out).toMatch(/ call\.(approved|denied) .*"by":"Ann B\."/);
      const turn = await stack.json("turns", "show", "last", "--wait", "30s");
      expect(turn.deliverable).toBe(said);
    }
  });

  test("[CLI-agents] a model thinks for an agent of the repository's own program; a key that may not be had is said", async () => {
    for (const [name, llm_config] of [
      ["local", { model: "small", api_base: model.url, stream: false }],
      ["keyed", { model: "openai/gpt-4.1-mini", api_key: "env:NO_SUCH_KEY" }],
    ] as const) {
      await stack.api("POST", "/projects/demo/profiles", { name, worker_target: "worker_generic", llm_config });
      await stack.api("POST", "/projects/demo/agents", { agent_id: name, profile_name: name });
    }
    const said = await stack.run(["run", "local", "How many words?", "--wait", "60s"]);
    expect([said.code, said.out]).toEqual([0, "Six.\n"]);
    const refused = await stack.run(["run", "keyed", "How many words?", "--wait", "60s"]);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("auth_failed: ");
  });

  test("[CLI-agents] a turn is stopped; unknown agents and turns are one sentence", async () => {
    const file = write("sleepy.json", profile("sleepy", [], [{ hang: true }]));
    await stack.run(["profiles", "apply", file]);
    await stack.run(["agents", "create", "sleeper", "--profile", "sleepy"]);
    const left = await stack.run(["run", "sleeper", "zzz", "--wait", "1s"]);
    expect(left.code).toBe(3);
    expect(left.err).toMatch(
      /goes on; to see it or to stop it, give this id to: toolplane turns show, toolplane turns stop\n$/,
    );
    expect((await stack.run(["turns", "stop", "last", "--reason", "enough"])).out).toMatch(/^stopped turn_/);
    const stopped = (await stack.run(["turns", "show", "last"])).out;
    expect(stopped).toMatch(/^status +stopped$/m);
    expect(stopped).toMatch(/^it was stopped: enough$/m);
    for (const args of [
      ["run", "nobody", "x"],
      ["turns", "show", "turn_none"],
      ["turns", "stop", "turn_none"],
      ["agents", "show", "nobody"],
      ["profiles", "show", "none"],
      ["calls", "approve", "none"],
    ]) {
      const { code, err } = await stack.run(args);
      expect.soft([code, err.split("\n").length], args.join(" ")).toEqual([1, 2]);
      expect.soft(err).toMatch(/^toolplane: not_found: /);
    }
  });
});
