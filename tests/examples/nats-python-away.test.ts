// examples/nats-python without NATS, or without a plane: the programs name the address, and say a trouble once.

import { startNats } from "@toolplane/testkit";
import { beforeAll, expect, test } from "vitest";
import { runProgram, startProgram } from "../cli/program.ts";
import { ROOT } from "../cli/stack.ts";
import { requirePython } from "./programs.ts";

const cwd = `${ROOT}/examples/nats-python`;
beforeAll(requirePython);

test.each([
  ["nats_cli.py", ["pub", "x"]],
  ["service.py", []],
  ["payload_service.py", []],
])(
  "%s reads TOOLPLANE_NATS_URL, and names the address where no server answers, without the password",
  async (file, args) => {
    const env = { TOOLPLANE_NATS_URL: "nats://ann:hush@127.0.0.1:3" };
    const { code, err } = await runProgram(["python3", file, ...args], { cwd, env });
    expect(code).toBe(1);
    expect(err).toMatch(/no NATS server answers at 127\.0\.0\.1:3: .*refused/);
    expect(err).not.toContain("hush");
    expect(err).not.toContain("Traceback");
  },
);

test("a service says once that a question has no answer, and pauses longer each time", async () => {
  const program = `
import gateway
from natswire import NoAnswer
pauses, tries = [], []
class Nats:
    def request(self, *_, **__):
        tries.append(1)
        if len(tries) < 20:
            raise NoAnswer("nobody serves attach")
        raise KeyboardInterrupt
gateway.time.sleep = pauses.append
try:
    gateway.Gateway(Nats(), "demo", "letters").insist("attach", {}, {})
except KeyboardInterrupt:
    print(pauses == sorted(pauses), pauses[-1])`;
  const { out, err } = await runProgram(["python3", "-c", program], { cwd });
  expect([out, err]).toEqual(["True 5\n", "nobody serves attach; trying again\n"]);
});

test("a service whose NATS goes away says so a few times, and not at each try", async () => {
  await using nats = await startNats();
  // The plane's answer to attach is all that the service needs to fetch.
  const program = `
import sys, threading
import gateway, service
real, tries = gateway.Gateway.ask, []
def ask(self, operation, *rest):
    return ({"durable": "d"}, 0) if not tries else real(self, operation, *rest)
gateway.Gateway.ask = ask
fetched = service.Nats.publish
def publish(self, *args, **more):
    try:
        return fetched(self, *args, **more)
    except OSError:
        tries.append(1)
        if len(tries) == 12:
            print("tried often", flush=True)
        raise
service.Nats.publish = publish
service.FETCH_SECONDS = 0.1
sys.argv = ["service.py", "--no-register"]
service.main()`;
  const env = { TOOLPLANE_NATS_URL: nats.url };
  await using away = await startProgram(["python3", "-c", program], { cwd, env });
  await away.until("serving", (_, err) => (err.includes("serving") ? true : undefined));
  await nats.kill();
  await away.until("tries", (out) => (out.includes("tried often") ? true : undefined));
  const lines = away
    .err()
    .split("\n")
    .filter((line) => /again|no answer/.test(line));
  expect(lines.length).toBeLessThanOrEqual(4);
});
