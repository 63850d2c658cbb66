// examples/nats-python with the rights deploy/nats gives a tool service and a plain one, and nothing more.

import { createNatsBus } from "@toolplane/bus/nats";
import { type Carrier, silentLog } from "@toolplane/engine";
import { createNatsGateway } from "@toolplane/server/internal";
import { createNatsCredentials, startNats, startTestEngine } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { startProgram } from "../cli/program.ts";
import { ROOT } from "../cli/stack.ts";
import { type DeployedUser, startDeployedServer } from "../gateway/deployed-server.ts";
import { openPlaneLink } from "../gateway/gateway-stack.ts";
import { requirePython } from "./programs.ts";

const HELLO = { text: "Hello, world" };
/** The plain user may not register, so somebody else has. */
const LEGACY = {
  name: "count_letters_plain",
  target: "legacy",
  options: { service: "plain" },
  parameters: { type: "object", properties: { text: { type: "string" } } },
};

test("[NATSPY-7] the rights of a deployed user are enough for the leased and for the plain service", async () => {
  requirePython();
  await using server = await startDeployedServer();
  const link = await openPlaneLink(server);
  const carrier = { open: ({ bury, log }: Parameters<Carrier["open"]>[0]) => createNatsBus({ link, bury, log }) };
  await using t = await startTestEngine({ tools: [LEGACY], carrier });
  const gateway = await createNatsGateway({ engine: t.engine, link, log: silentLog });

  const serve = async (user: DeployedUser, ...args: readonly string[]) => {
    const program = await startProgram(["python3", "examples/nats-python/service.py", ...args], {
      cwd: ROOT,
      env: {
        TOOLPLANE_NATS_URL: server.url(user),
        TOOLPLANE_NATS_INBOX: `_INBOX_${user}__demo`,
        TOOLPLANE_PROJECT: "demo",
        TOOLPLANE_TARGET: user,
      },
    });
    await program.until("serving", (_, err) => (err.includes("serving ") ? true : undefined));
    return program;
  };
  await using leased = await serve("text");
  await using plain = await serve("legacy", "--plain", "--no-register");
  const call = async (toolName: string) =>
    t.engine.calls.get(await t.engine.calls.call({ projectId: "demo", toolName, arguments: HELLO }, 30_000));
  expect(await call("count_letters")).toMatchObject({ status: "success", settledBy: "tool.text" });
  expect(await call("count_letters_plain")).toMatchObject({ status: "success", settledBy: "tool.legacy" });
  expect(`${leased.err()}${plain.err()}`).not.toContain("Permissions");
  await gateway.stop();
  await link.close();
});

test("the Python programs know a user and password, or a token; to a server that wants a signature they say what is missing", async () => {
  requirePython();
  const secret = "p@ss/w%rd";
  await using byUser = await startNats({ config: `authorization { user: ann, password: ${JSON.stringify(secret)} }` });
  await using byToken = await startNats({ config: `authorization { token: ${JSON.stringify(secret)} }` });
  await using bySignature = await startNats({ config: createNatsCredentials().config });
  const publish = async (who: string, { port }: { readonly port: number }) => {
    const argv = [
      "python3",
      "examples/nats-python/nats_cli.py",
      "--server",
      `nats://${who}127.0.0.1:${port}`,
      "pub",
      "x",
    ];
    await using program = await startProgram(argv, { cwd: ROOT });
    return { code: (await program.ended).code, said: program.err() };
  };
  const quoted = encodeURIComponent(secret);
  expect(await publish(`ann:${quoted}@`, byUser)).toEqual({ code: 0, said: "" });
  expect(await publish(`${quoted}@`, byToken)).toEqual({ code: 0, said: "" });
  expect(await publish("ann:wrong@", byUser)).toMatchObject({ code: 1, said: expect.not.stringContaining("NKEY") });
  expect(await publish("", bySignature)).toMatchObject({ code: 1, said: expect.stringContaining("cannot sign") });
});
