// A plane on NATS as deployed, and a service that knows nothing but NATS: the commands come from the durable the plane
// keeps, everything else is request and reply. All of it with the rights of the deployed users.

import { createNatsBus } from "@toolplane/bus/nats";
import { type Carrier, silentLog } from "@toolplane/engine";
import { defineTool, serveTools } from "@toolplane/sdk";
import { createNatsGateway } from "@toolplane/server/internal";
import { eventually, startTestEngine } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { startDeployedServer } from "./deployed-server.ts";
import { gatewayAt, openPlaneLink, readAnswer, TOOLS } from "./gateway-stack.ts";
import type { WireClient, WireMessage } from "./wire-client.ts";

const NEXT = "$JS.API.CONSUMER.MSG.NEXT.cg_cmd_v1r4.tool_text__demo";

interface StreamInfo {
  readonly state: { readonly messages: number; readonly subjects?: Readonly<Record<string, number>> };
  readonly config: { readonly subjects: readonly string[] };
}

const streamInfo = async (plane: WireClient, stream: string): Promise<StreamInfo> => {
  const { payload } = await plane.request(`$JS.API.STREAM.INFO.${stream}`, JSON.stringify({ subjects_filter: ">" }));
  return JSON.parse(payload) as StreamInfo;
};

/** How many commands the service has not acknowledged. */
const openCommands = async (plane: WireClient): Promise<number> => {
  const { payload } = await plane.request("$JS.API.CONSUMER.INFO.cg_cmd_v1r4.tool_text__demo", "");
  const { num_pending, num_ack_pending } = JSON.parse(payload) as { num_pending: number; num_ack_pending: number };
  return num_pending + num_ack_pending;
};

/** The next command of the service's durable; it waits for one. */
const nextCommand = async (text: WireClient, box: readonly WireMessage[]): Promise<WireMessage> => {
  const from = box.length;
  text.publish(NEXT, JSON.stringify({ batch: 1, expires: 25_000_000_000 }), { reply: `${text.inbox}.box` });
  await eventually(() => box.length > from);
  return box[from] as WireMessage;
};

test("[API-5-1] [API-5-4] [UTP-W32-T1] the deployed users are enough for a plane and for a service that only knows NATS", async () => {
  await using server = await startDeployedServer();
  const link = await openPlaneLink(server);
  const carrier = { open: ({ bury, log }: Parameters<Carrier["open"]>[0]) => createNatsBus({ link, bury, log }) };
  await using t = await startTestEngine({ tools: TOOLS, carrier, watchdog: true });
  const gateway = await createNatsGateway({ engine: t.engine, link, log: silentLog });
  await using text = await server.connect("text");
  await using plane = await server.connect("engine");
  await using ui = await server.connect("ui_demo");
  const box = text.subscribe(`${text.inbox}.box`);
  const events = ui.subscribe("cg.v1r4.demo.*.evt.>");
  const parts = ui.subscribe("cg.v1r4.demo.*.str.>");
  expect([...(await text.flush()), ...(await ui.flush())]).toEqual([]);
  const ask = async (operation: string, body: unknown, headers: WireMessage["headers"]) =>
    readAnswer(await text.request(gatewayAt(operation), JSON.stringify(body), { headers }));

  const { toolCallId } = await t.engine.calls.dispatch({ projectId: "demo", toolName: "safe", arguments: { n: 1 } });
  const key = { projectId: "demo", toolCallId };
  // The plane makes the durable when the service attaches; a fetch from one that is not there is not even answered.
  const attached = { stream: "cg_cmd_v1r4", durable: "tool_text__demo" };
  expect((await ask("attach", {}, {})).body).toEqual(attached);
  const command = await nextCommand(text, box);
  expect(command).toMatchObject({ subject: "cg.v1r4.demo.public.cmd.tool.text.safe", status: undefined });
  const headers = Object.fromEntries(Object.entries(command.headers).filter(([name]) => !name.startsWith("Nats-")));
  const leased = await ask("lease", JSON.parse(command.payload), headers);
  expect(leased).toMatchObject({ status: 200, body: { card: { content: { arguments: { n: 1 } } } } });
  text.publish(command.reply ?? "", "+ACK");
  const lease = leased.body.lease.id as string;
  expect((await ask("parts", { lease, parts: [{ index: 0, part: "half" }] }, headers)).status).toBe(202);
  expect((await ask("settle", { lease, status: "success", result: { n: 2 } }, headers)).status).toBe(200);
  expect(await t.engine.calls.get(key)).toMatchObject({ status: "success", settledBy: "tool.text" });
  await eventually(() => parts.length > 0);
  const event = { subject: "cg.v1r4.demo.public.evt.agent.a1.task", headers: {}, payload: "{}" };
  await t.engine.bus.publish([event]);
  await eventually(() => events.length > 0);

  // No stream holds a request, and the command is gone for good.
  const [commands, evts] = [await streamInfo(plane, "cg_cmd_v1r4"), await streamInfo(plane, "cg_evt_v1r4")];
  for (const subject of [...commands.config.subjects, ...evts.config.subjects])
    expect(subject).toMatch(/^cg\.v1r4\.\*\.\*\.(cmd|evt)\./);
  await eventually(async () => (await openCommands(plane)) === 0);
  const held = Object.keys({ ...commands.state.subjects, ...evts.state.subjects });
  expect(held.filter((subject) => subject.includes(".rpc."))).toEqual([]);

  // The sdk needs no more than that either.
  const shout = defineTool({
    name: "shout",
    description: "Says it louder",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    run: async ({ text }: { text: string }) => ({ said: text.toUpperCase() }),
  });
  const env = { TOOLPLANE_NATS_INBOX: "_INBOX_text__demo" };
  const connection = { url: server.url("text"), project: "demo", target: "text", env };
  const serving = await serveTools([shout], { ...connection, log: silentLog, handleSignals: false });
  const said = await t.engine.calls.call({ projectId: "demo", toolName: "shout", arguments: { text: "a" } }, 10_000);
  expect(await t.engine.calls.get(said)).toMatchObject({ status: "success", settledBy: "tool.text" });
  await serving.stop();

  // A fetched command goes where its fetcher says, also to somebody else's gateway: there no request belongs to it.
  const second = await t.engine.calls.dispatch({ projectId: "demo", toolName: "safe", arguments: {} });
  await eventually(async () => (await streamInfo(plane, "cg_cmd_v1r4")).state.messages > 0);
  text.publish(NEXT, "1", { reply: gatewayAt("settle", "other") });
  expect(await text.flush()).toEqual([]);
  expect((await ask("get_tool", { tool_name: "safe" }, {})).status).toBe(200);
  expect(await t.engine.calls.get({ ...key, toolCallId: second.toolCallId })).toMatchObject({ status: "queued" });

  await gateway.stop();
  await t.engine.close();
  await link.close();
});
