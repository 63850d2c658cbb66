// A NATS server does not check the reply address of a request, and JetStream answers there with its own rights. Users of
// deploy/nats name every address they can think of; nothing outside their own account may change or be heard.

import { eventually } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DeployedServer, type DeployedUser, startDeployedServer } from "./deployed-server.ts";
import type { WireClient } from "./wire-client.ts";

const P = "cg.v1r4.demo.public";
const FAR = "cg.v1r4.elsewhere.public";
const STREAM = "cg_cmd_v1r4";
const API = "$JS.API";
const OWN = { durable: "tool_text__demo", command: `${P}.cmd.tool.text.run` };
const OTHERS = [
  { durable: "tool_other__demo", command: `${P}.cmd.tool.other.run` },
  { durable: "tool_text__elsewhere", command: `${FAR}.cmd.tool.text.run` },
];
/** What each user is there to ask; the plane hears that much of it. */
const ASKED = { text: `${P}.rpc.gateway.text.get_tool`, legacy: `${P}.rpc.gateway.legacy.report` } as const;
const ACTION = `${P}.cmd.sys.ui.action`;

let server: DeployedServer;
let plane: WireClient;
const clients = new Map<DeployedUser, WireClient>();
const clientOf = (user: DeployedUser): WireClient => clients.get(user) as WireClient;

beforeAll(async () => {
  server = await startDeployedServer();
  plane = await server.connect("engine");
  for (const user of ["text", "legacy", "ui_demo"] as const) clients.set(user, await server.connect(user));
});
afterAll(async () => {
  for (const client of [plane, ...clients.values()]) await client[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const api = async (subject: string, body: unknown = {}): Promise<Record<string, unknown>> =>
  JSON.parse((await plane.request(`${API}.${subject}`, JSON.stringify(body))).payload) as Record<string, unknown>;

/** Commands of the attacker's own: one for every address it names, and some that stay. */
const OWN_COMMANDS = 40;

/** Streams, durables and commands as the plane keeps them; what an attack destroyed is made anew. */
const restore = async (): Promise<void> => {
  const stream = (name: string, category: string, retention: string) =>
    api(`STREAM.CREATE.${name}`, { name, subjects: [`cg.v1r4.*.*.${category}.>`], retention, storage: "memory" });
  await stream(STREAM, "cmd", "limits");
  await stream("cg_evt_v1r4", "evt", "limits");
  await api(`STREAM.PURGE.${STREAM}`);
  for (const { durable, command } of [OWN, ...OTHERS]) {
    await api(`CONSUMER.DELETE.${STREAM}.${durable}`);
    const config = { durable_name: durable, ack_policy: "explicit", filter_subject: command };
    await api(`CONSUMER.DURABLE.CREATE.${STREAM}.${durable}`, { stream_name: STREAM, config });
    for (let n = durable === OWN.durable ? OWN_COMMANDS : 2; n > 0; n -= 1) await plane.request(command, "{}");
  }
};

/** Everything of the plane that is not the attacker's own. */
const others = async (): Promise<unknown> => {
  const streams = await api("STREAM.NAMES");
  const consumers = await api(`CONSUMER.NAMES.${STREAM}`);
  const held = await api(`STREAM.INFO.${STREAM}`, { subjects_filter: ">" });
  const { [OWN.command]: _, [ACTION]: __, ...subjects } = (held.state as { subjects: Record<string, number> }).subjects;
  const state = [];
  for (const { durable } of OTHERS) {
    const info = await api(`CONSUMER.INFO.${STREAM}.${durable}`);
    state.push([info.num_pending, info.num_ack_pending, info.num_waiting, info.delivered, info.ack_floor]);
  }
  return { streams: streams.streams, consumers: consumers.consumers, subjects, state };
};

/** Where the next commands of a durable are acknowledged; the plane fetches them, as a service would have. */
const fetchAcks = async (durable: string, batch: number): Promise<readonly string[]> => {
  const reply = `${plane.inbox}.fetched.${Math.random().toString(36).slice(2)}`;
  const box = plane.subscribe(reply);
  plane.publish(`${API}.CONSUMER.MSG.NEXT.${STREAM}.${durable}`, JSON.stringify({ batch, expires: 3e10 }), { reply });
  await eventually(() => box.length === batch);
  return box.map((command) => command.reply ?? "");
};

type Form = (client: WireClient, reply: string, own: string) => void;
const NEXT = `${API}.CONSUMER.MSG.NEXT.${STREAM}.${OWN.durable}`;

/** Every way a tool service can ask JetStream or the gateway for an answer. */
const TOOL_FORMS: Readonly<Record<string, Form>> = {
  fetch: (client, reply) => client.publish(NEXT, '{"batch":1}', { reply }),
  "fetch that waits": (client, reply) => client.publish(NEXT, '{"batch":9,"expires":50000000}', { reply }),
  // The answer to the second is a status without a body, which is an acknowledgement where acknowledgements are read.
  "fetch of everything, then of nothing": (client, reply) => {
    client.publish(NEXT, '{"batch":50,"no_wait":true}', { reply: `${client.inbox}.all` });
    client.publish(NEXT, '{"batch":50,"no_wait":true}', { reply });
  },
  "malformed fetch": (client, reply) => client.publish(NEXT, '{"batch":', { reply }),
  acknowledge: (client, reply, own) => client.publish(own, "+ACK", { reply }),
  "acknowledge and fetch": (client, reply, own) => client.publish(own, "+NXT", { reply }),
  "acknowledge and fetch many": (client, reply, own) =>
    client.publish(own, '+NXT {"batch":5,"no_wait":true}', { reply }),
  "give back": (client, reply, own) => client.publish(own, "-NAK", { reply }),
  "still working": (client, reply, own) => client.publish(own, "+WPI", { reply }),
  terminate: (client, reply, own) => client.publish(own, "+TERM", { reply }),
  question: (client, reply) => client.publish(ASKED.text, "{}", { reply }),
};
const FORMS: Readonly<Partial<Record<DeployedUser, Readonly<Record<string, Form>>>>> = {
  text: TOOL_FORMS,
  legacy: { question: (client, reply) => client.publish(ASKED.legacy, "{}", { reply }) },
  ui_demo: { action: (client, reply) => client.publish(ACTION, "{}", { reply }) },
};

const hostileReplies = (othersAcks: readonly string[]): readonly string[] => [
  `${API}.STREAM.PURGE.${STREAM}`,
  `${API}.STREAM.DELETE.${STREAM}`,
  `${API}.STREAM.DELETE.cg_evt_v1r4`,
  `${API}.CONSUMER.DELETE.${STREAM}.tool_other__demo`,
  `${API}.CONSUMER.DELETE.${STREAM}.tool_text__elsewhere`,
  ...OTHERS.map(({ durable }) => `${API}.CONSUMER.MSG.NEXT.${STREAM}.${durable}`),
  ...othersAcks,
  ...OTHERS.map(({ command }) => command),
  `${FAR}.cmd.agent.pool.wakeup`,
  `${P}.cmd.sys.pmo.internal.delegate`,
  `${FAR}.cmd.sys.ui.action`,
  `${FAR}.evt.agent.a1.task`,
  `${P}.str.agent.a1.part`,
  `${FAR}.rpc.gateway.text.settle`,
  `${P}.rpc.gateway.other.settle`,
  "_INBOX_engine.guess",
  "_R_.guess.guess",
  "$SYS.REQ.SERVER.PING",
];

const FORM_CASES = Object.entries(FORMS).flatMap(([user, forms]) =>
  Object.entries(forms).map(([form, send]) => ({ user: user as DeployedUser, form, send })),
);

test.each(FORM_CASES)("[SEC-12-1] $user, $form: no reply address reaches beyond the account", async (attack) => {
  const client = clientOf(attack.user);
  await restore();
  const othersAcks = [];
  for (const { durable } of OTHERS) othersAcks.push(...(await fetchAcks(durable, 1)));
  const replies = hostileReplies(othersAcks);
  const acks = await fetchAcks(OWN.durable, replies.length);
  const heard = plane.subscribe("cg.v1r4.>");
  const guessed = plane.subscribe("_INBOX_engine.guess");
  const before = await others();

  for (const [at, reply] of replies.entries()) attack.send(client, reply, acks[at] ?? "");
  // The server refuses a few of the addresses itself; that is as good.
  await client.flush();
  // Its durable answers this one behind everything else it was asked.
  if (attack.user === "text") {
    const last = client.subscribe(`${client.inbox}.last`);
    client.publish(NEXT, '{"batch":1,"no_wait":true}', { reply: `${client.inbox}.last` });
    await eventually(() => last.length > 0);
  }
  await plane.flush();
  // A plane that would answer anything.
  for (const { reply } of [...heard]) if (reply !== undefined) plane.publish(reply, "{}");
  await plane.flush();
  expect(await others()).toEqual(before);
  const asked = new Set<string>([ACTION, ...Object.values(ASKED)]);
  expect(heard.map(({ subject }) => subject).filter((subject) => !asked.has(subject))).toEqual([]);
  expect(guessed).toEqual([]);
});
