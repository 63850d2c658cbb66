// A tool service may acknowledge to its own durables, and the number of the message in an acknowledgement is its own to choose. It must
// not be able to take commands of others away with that: of other targets, of other projects, of the plane.

import { createNatsBus } from "@toolplane/bus/nats";
import { silentLog } from "@toolplane/engine";
import { expect, test } from "vitest";
import { startDeployedServer } from "./deployed-server.ts";
import { openPlaneLink } from "./gateway-stack.ts";

const OWN = { durable: "tool_text__demo", pattern: "cg.v1r4.demo.*.cmd.tool.text.>" };
const OTHERS = [
  { durable: "tool_text__elsewhere", pattern: "cg.v1r4.elsewhere.*.cmd.tool.text.>" },
  { durable: "tool_other__demo", pattern: "cg.v1r4.demo.*.cmd.tool.other.>" },
  { durable: "worker_pool", pattern: "cg.v1r4.*.*.cmd.agent.pool.wakeup" },
];
const COMMANDS = [
  "cg.v1r4.elsewhere.public.cmd.tool.text.run",
  "cg.v1r4.demo.public.cmd.tool.other.run",
  "cg.v1r4.demo.public.cmd.agent.pool.wakeup",
];

test("[SEC-12-1] [NATS-SEC-1] an acknowledgement that names a command of others deletes none", async () => {
  await using server = await startDeployedServer();
  const link = await openPlaneLink(server);
  const bus = createNatsBus({ link, log: silentLog, bury: async () => {} });
  await bus.ensureDurables([OWN, ...OTHERS]);
  await bus.publish(COMMANDS.map((subject) => ({ subject, headers: {}, payload: "{}" })));
  await using text = await server.connect("text");
  for (const said of ["+ACK", "+TERM", "-NAK"])
    for (let number = 1; number <= COMMANDS.length + 2; number++)
      text.publish(`$JS.ACK.cg_cmd_v1r4.${OWN.durable}.1.${number}.${number}.1794739172364672079.0`, said);
  expect(await text.flush()).toEqual([]);
  // A service's own command comes to it all the same, after everything that was said before.
  await bus.publish([{ subject: "cg.v1r4.demo.public.cmd.tool.text.run", headers: {}, payload: "{}" }]);
  const [own] = await bus.commands(OWN.durable).fetch({ max: 1, waitMs: 10_000 });
  await own?.ack();
  for (const [index, { durable }] of OTHERS.entries()) {
    const [command] = await bus.commands(durable).fetch({ max: 2, waitMs: 10_000 });
    expect(command?.subject, durable).toBe(COMMANDS[index]);
    await command?.ack();
  }
  await bus.close({ drainMs: 0 });
  await link.close();
});
