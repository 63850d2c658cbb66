// `toolplane conform` as people use it: exit codes, what is printed, and a service that is started, watched and ended.

import { fileURLToPath } from "node:url";
import { programArgv, RIGHT_HABITS, startPlainService } from "@toolplane/testkit";
import { describe, expect, test, vi } from "vitest";
import { runProgram } from "../cli/program.ts";
import { runHere, TOOLPLANE } from "../cli/stack.ts";
import { conform, createTerminal, faultsIn, launchPlain, reportOn, TARGET } from "./conform-run.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SERVICE = programArgv(new URL("programs/plain-service.ts", import.meta.url));
const RIGHT = { name: "right", habits: RIGHT_HABITS };

const toolplane = (...args: readonly string[]) => runProgram([...TOOLPLANE, "conform", ...args], { cwd: ROOT });

describe("the command", () => {
  test.concurrent("[API-conform-lines] exits 0 and prints one aligned line per clause", async ({ expect }) => {
    const { code, out, err } = await toolplane("--target", TARGET, "--http", "--", ...SERVICE, TARGET);
    expect(err).toBe("");
    const lines = out.trimEnd().split("\n");
    expect(lines).toHaveLength(42);
    expect(lines[6]).toBe(
      "pass  UTP-C07  Inline args, arguments and result are refused                       (UTP 4.1; utp 8.3.3, D-05)",
    );
    expect(lines.at(-1)).toBe("text/count_words: 32 pass, 0 fail, 8 not applicable");
    expect(code).toBe(0);
  });

  test.concurrent("[API-conform-fail] exits 1 and says why when a clause fails", async ({ expect }) => {
    const wrong = [...SERVICE, TARGET, "does not look for inline data"];
    const { code, out } = await toolplane("--target", TARGET, "--http", "--", ...wrong);
    expect(out.split("\n").filter((line) => line.startsWith("fail"))).toEqual([
      'fail  UTP-C07  Inline args, arguments and result are refused                       (UTP 4.1; utp 8.3.3, D-05)          a payload with args was answered with "success" instead of "failed"',
    ]);
    expect(code).toBe(1);
  });

  test.concurrent.each([
    [["--http"], "say which target the service claims for: --target"],
    [["--target", "text"], "say how the service talks to the plane: --http, or --nats-url URL"],
    [
      ["--target", "text", "--http", "--nats-url", "nats://127.0.0.1"],
      "say how the service talks to the plane: --http, or --nats-url URL",
    ],
    [["--target", "text", "--http", "--port", "x"], '--port takes a number from 0 (any free one) to 65535, not "x"'],
  ] as const)("[API-conform-usage] %j is wrong usage: exit 2 and one sentence", async (args, sentence) => {
    const { code, out, err } = await runHere(["conform", ...args], { cwd: ROOT });
    expect([code, out]).toEqual([2, ""]);
    expect(err).toBe(`toolplane: usage: ${sentence}; see toolplane help conform\n`);
  });
});

test.each([
  [{ http: false }, "say how the service talks to the plane: --http, or --nats-url URL"],
  [{ target: "a.b" }, "--target takes the name the service claims for, such as text"],
  [{ tool: "a b" }, '"a b" cannot be the name of a tool'],
  [{ arguments: "text" }, '--arguments takes a JSON object such as {"text": "hello"}'],
  [{ arguments: "[1]" }, "--arguments takes a JSON object, or an array of two to try one after the other"],
  [{ arguments: "[{}, {}, {}]" }, "--arguments takes a JSON object, or an array of two to try one after the other"],
])("[API-conform-usage] %j is refused before anything is started", async (options, sentence) => {
  const launch = vi.fn();
  await expect(conform({ ...options, launch })).rejects.toThrow(sentence);
  expect(launch).not.toHaveBeenCalled();
});

describe("a service that is not there", () => {
  test.concurrent("[API-conform-never] ends before it claims: exit 3, its own last words", async ({ expect }) => {
    const terminal = createTerminal({ env: { PATH: process.env.PATH ?? "" } });
    const command = ["sh", "-c", "echo cannot find my configuration >&2; exit 7"];
    expect(await conform({ command }, terminal)).toBe(3);
    expect(terminal.out()).toBe("");
    expect(terminal.err()).toBe(
      "toolplane: the service ended with code 7 before it asked for work\ncannot find my configuration\n",
    );
  });

  test.concurrent("[API-conform-never] claims for another target: exit 3, naming it", async ({ expect }) => {
    const terminal = createTerminal();
    expect(await conform({ ...launchPlain(RIGHT), target: "words", connectMs: 50_000 }, terminal)).toBe(3);
    expect(terminal.err()).toBe("toolplane: the service claims for target text, not for words\n");
  });

  test.concurrent("[API-conform-never] never connects: exit 3, naming the variables", async ({ expect }) => {
    const terminal = createTerminal();
    expect(await conform({ connectMs: 10 }, terminal)).toBe(3);
    expect(terminal.err()).toContain("it reads TOOLPLANE_URL, TOOLPLANE_TOKEN, TOOLPLANE_PROJECT");
  });
});

describe("a service somebody else runs", () => {
  /** The three lines, as soon as they are printed. */
  const connect = async (terminal: ReturnType<typeof createTerminal>) => {
    await expect.poll(() => terminal.out()).toContain("TOOLPLANE_PROJECT=");
    const values = new Map(
      terminal
        .out()
        .split("\n")
        .map((line) => line.split("=") as [string, string]),
    );
    const value = (name: string): string => values.get(name) ?? "";
    return { url: value("TOOLPLANE_URL"), token: value("TOOLPLANE_TOKEN"), projectId: value("TOOLPLANE_PROJECT") };
  };

  test("[API-conform-by-hand] is told three variables and waited for", async () => {
    const terminal = createTerminal();
    const done = conform({}, terminal);
    const service = startPlainService(RIGHT_HABITS, { ...(await connect(terminal)), target: TARGET });
    expect(await done).toBe(0);
    await service.stop();
    expect(terminal.out()).toContain("text/count_words: 32 pass, 0 fail, 8 not applicable");
  });

  test("[API-conform-ended] that ends fails the clause it ended in; what could not be seen is not judged", async () => {
    const terminal = createTerminal();
    const done = conform({}, terminal);
    const habits = { ...RIGHT_HABITS, onNameless: () => "die" as const };
    const service = startPlainService(habits, { ...(await connect(terminal)), target: TARGET });
    expect(await done).toBe(1);
    await service.stop();
    const lines = terminal.out().split("\n");
    const failed = lines.filter((line) => line.startsWith("fail"));
    expect(failed).toHaveLength(1);
    expect(failed[0]).toContain("UTP-C10");
    expect(failed[0]).toContain("the service stopped answering (no call id)");
    expect(lines.find((line) => line.includes("UTP-C14"))).toContain(
      "not tried: the service stopped answering before it (no call id)",
    );
  });

  test("[API-conform-tool] may register nothing, if its tool and arguments are named", async () => {
    const silent = { name: "silent", habits: { ...RIGHT_HABITS, definitions: () => [] } };
    const { report } = await reportOn({
      ...launchPlain(silent),
      tool: "count_words",
      arguments: '[{"text": "one"}, {"text": "one two"}]',
    });
    expect(faultsIn(report)).toEqual([]);
    expect(report.clauses.find(({ id }) => id === "UTP-C03")).toMatchObject({ verdict: "not-applicable" });
    await expect(conform(launchPlain(silent))).rejects.toThrow(
      "the service registered no tool for target text: name one with --tool and arguments it takes with --arguments",
    );
  });
});

test("a tool that does not like its arguments is one fault with advice, not many", async () => {
  const picky = { ...RIGHT_HABITS, fault: () => "the text must be a poem" };
  const { report } = await reportOn(launchPlain({ name: "picky", habits: picky }));
  expect(faultsIn(report)).toEqual([
    "UTP-C06: the first call was answered with \"failed\" (bad_request); give arguments it succeeds with: --arguments '{...}'",
  ]);
  expect(report.clauses.find(({ id }) => id === "UTP-C12")).toMatchObject({ verdict: "not-applicable" });
});

test("[API-conform-ended] a service that answers no ordinary call is asked nothing else", async () => {
  const deaf = { ...RIGHT_HABITS, start: () => [] };
  const { code, report } = await reportOn({ ...launchPlain({ name: "deaf", habits: deaf }), timeoutMs: 300 });
  expect(code).toBe(1);
  expect(faultsIn(report)).toEqual(["UTP-C06: the service stopped answering (two calls)"]);
  expect(report.clauses.find(({ id }) => id === "UTP-C30")).toMatchObject({
    verdict: "not-applicable",
    reason: "not tried: the service answers no ordinary call",
  });
});

test("[API-conform-stop] Ctrl-C ends the run and the service", async () => {
  const terminal = createTerminal();
  let [started, stopped] = [false, false];
  const done = conform(
    {
      launch: async (connection) => {
        // It connects and then never answers, so that only a person can end the wait.
        const habits = { ...RIGHT_HABITS, start: () => [] };
        const service = startPlainService(habits, { ...connection, target: TARGET });
        started = true;
        return {
          exited: service.exited,
          stop: async () => {
            stopped = true;
            await service.stop();
          },
        };
      },
      timeoutMs: 60_000,
      connectMs: 60_000,
      json: true,
    },
    terminal,
  );
  await expect.poll(() => started).toBe(true);
  terminal.stop();
  expect([await done, stopped, terminal.out()]).toEqual([1, true, ""]);
});
