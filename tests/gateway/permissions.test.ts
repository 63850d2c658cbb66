// The configuration in deploy/nats, run as it is: what each user may do is done, and everything else is refused by the NATS
// server itself. A refusal is the server's own word about that very subject.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "@toolplane/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEPLOYED, type DeployedServer, type DeployedUser, startDeployedServer, USERS } from "./deployed-server.ts";
import { connectWire, type WireClient, type WireMessage } from "./wire-client.ts";

let server: DeployedServer;
const clients = new Map<DeployedUser, WireClient>();

const clientOf = (user: DeployedUser): WireClient => clients.get(user) as WireClient;

const createStream = (name: string, category: string, retention: string): Promise<unknown> =>
  clientOf("engine").request(
    `$JS.API.STREAM.CREATE.${name}`,
    JSON.stringify({ name, subjects: [`cg.v1r4.*.*.${category}.>`], retention, storage: "file" }),
  );

const createDurable = (target: string, project = "demo"): Promise<{ payload: string }> =>
  clientOf("engine").request(
    `$JS.API.CONSUMER.DURABLE.CREATE.cg_cmd_v1r4.tool_${target}__${project}`,
    JSON.stringify({
      stream_name: "cg_cmd_v1r4",
      config: {
        durable_name: `tool_${target}__${project}`,
        ack_policy: "explicit",
        filter_subject: `cg.v1r4.${project}.*.cmd.tool.${target}.>`,
      },
    }),
  );

beforeAll(async () => {
  server = await startDeployedServer();
  for (const user of USERS) clients.set(user, await server.connect(user));
  await createStream("cg_cmd_v1r4", "cmd", "limits");
  await createStream("cg_evt_v1r4", "evt", "limits");
  await createDurable("text");
  await createDurable("other");
  await createDurable("text", "elsewhere");
});

afterAll(async () => {
  for (const client of clients.values()) await client[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const P = "cg.v1r4.demo.public";
const ELSEWHERE = "cg.v1r4.elsewhere.public";
const JS = "$JS.API";
const ACK = "1.1.1.1794739172364672079.0";

/** What only the plane may publish. */
const ONLY_THE_PLANE = [
  `${P}.cmd.agent.pool.wakeup`,
  `${P}.cmd.tool.text.run`,
  `${P}.cmd.tool.legacy.run`,
  `${P}.cmd.tool.other.run`,
  `${P}.cmd.sys.pmo.internal.delegate`,
  `${P}.cmd.sys.judge.retry`,
  `${ELSEWHERE}.cmd.tool.text.run`,
  `${P}.evt.agent.a1.task`,
  `${P}.evt.agent.a1.state`,
  `${P}.evt.sys.ui.action_ack`,
  `${P}.str.agent.a1.chunk`,
  `${P}.str.agent.a1.part`,
  `${JS}.STREAM.CREATE.mine`,
  `${JS}.STREAM.UPDATE.cg_cmd_v1r4`,
  `${JS}.STREAM.DELETE.cg_cmd_v1r4`,
  `${JS}.STREAM.DELETE.cg_evt_v1r4`,
  `${JS}.STREAM.PURGE.cg_cmd_v1r4`,
  `${JS}.STREAM.MSG.DELETE.cg_cmd_v1r4`,
  `${JS}.STREAM.MSG.GET.cg_cmd_v1r4`,
  `${JS}.STREAM.INFO.cg_cmd_v1r4`,
  `${JS}.STREAM.SNAPSHOT.cg_evt_v1r4`,
  `${JS}.STREAM.RESTORE.cg_evt_v1r4`,
  `${JS}.DIRECT.GET.cg_evt_v1r4`,
  `${JS}.CONSUMER.CREATE.cg_cmd_v1r4`,
  `${JS}.CONSUMER.CREATE.cg_cmd_v1r4.tool_text__demo`,
  `${JS}.CONSUMER.CREATE.cg_evt_v1r4.mine.cg.v1r4.demo.*.evt.>`,
  `${JS}.CONSUMER.DURABLE.CREATE.cg_cmd_v1r4.mine`,
  `${JS}.CONSUMER.DELETE.cg_cmd_v1r4.tool_text__demo`,
  `${JS}.CONSUMER.DELETE.cg_cmd_v1r4.tool_other`,
  `${JS}.CONSUMER.LIST.cg_cmd_v1r4`,
  `${JS}.CONSUMER.NAMES.cg_cmd_v1r4`,
  `${JS}.CONSUMER.INFO.cg_cmd_v1r4.tool_other`,
  `${JS}.CONSUMER.INFO.cg_cmd_v1r4.tool_text__demo`,
  `${JS}.CONSUMER.MSG.NEXT.cg_cmd_v1r4.tool_other`,
  `${JS}.CONSUMER.MSG.NEXT.cg_evt_v1r4.tool_text__demo`,
  `${JS}.CONSUMER.LEADER.STEPDOWN.cg_cmd_v1r4.tool_text__demo`,
  `${JS}.INFO`,
  `${JS}.ACCOUNT.PURGE.TOOLPLANE`,
  `$JS.ACK.cg_cmd_v1r4.tool_other.${ACK}`,
  `$JS.ACK.cg_evt_v1r4.tool_text__demo.${ACK}`,
  `$JS.FC.cg_cmd_v1r4.tool_text__demo.1`,
  "$SYS.REQ.SERVER.PING",
  "_INBOX.somebody.1",
  "_INBOX_engine.guess.1",
  "_INBOX_other.guess.1",
  "anything",
] as const;

/** Gateway subjects that are some other actor's, project's or protocol's. */
const OTHERS_GATEWAY = [
  `${P}.rpc.gateway.other.settle`,
  `${P}.rpc.gateway.other.lease`,
  `${P}.rpc.gateway.*.settle`,
  `${ELSEWHERE}.rpc.gateway.text.settle`,
  `${ELSEWHERE}.rpc.gateway.text.get_tool`,
  "cg.v1r4.*.public.rpc.gateway.text.settle",
  "cg.v1r3.demo.public.rpc.gateway.text.settle",
] as const;

/** What only the plane may listen to. */
const NOT_TO_HEAR = [
  ">",
  "*.>",
  "cg.>",
  "cg.v1r4.>",
  "cg.v1r4.*.*.cmd.>",
  `${P}.>`,
  `${P}.cmd.>`,
  `${P}.cmd.tool.>`,
  `${P}.cmd.tool.*.run`,
  `${P}.cmd.tool.other.>`,
  `${P}.cmd.agent.pool.wakeup`,
  `${P}.cmd.sys.>`,
  `${P}.rpc.>`,
  `${P}.rpc.gateway.text.settle`,
  "cg.v1r4.*.*.rpc.gateway.*.>",
  `${ELSEWHERE}.cmd.tool.text.>`,
  "cg.v1r4.*.*.cmd.tool.text.>",
  `${ELSEWHERE}.evt.>`,
  "cg.v1r4.*.*.evt.>",
  `${ELSEWHERE}.str.>`,
  "_INBOX.>",
  "_INBOX.*.*",
  "_INBOX_engine.>",
  "_INBOX_other.>",
  "$JS.>",
  `${JS}.>`,
  `${JS}.CONSUMER.MSG.NEXT.cg_cmd_v1r4.tool_text__demo`,
  "$JS.ACK.>",
  "$JS.EVENT.>",
  "$SYS.>",
] as const;

const EVENTS = [`${P}.evt.>`, `${P}.evt.agent.a1.task`, `${P}.str.>`, `${P}.str.agent.a1.part`] as const;

interface Rights {
  readonly publishes: readonly string[];
  readonly hears: readonly string[];
  readonly mayNotPublish: readonly string[];
  readonly mayNotHear: readonly string[];
}

const GATEWAY = [
  "attach",
  "lease",
  "get_card",
  "heartbeat",
  "release",
  "settle",
  "put_card",
  "report",
  "parts",
  "get_tool",
];

const RIGHTS: Readonly<Record<Exclude<DeployedUser, "engine">, Rights>> = {
  text: {
    publishes: [
      ...GATEWAY.map((operation) => `${P}.rpc.gateway.text.${operation}`),
      `${P}.rpc.gateway.text.register`,
      "cg.v1r4.demo.private.rpc.gateway.text.settle",
      `${JS}.CONSUMER.MSG.NEXT.cg_cmd_v1r4.tool_text__demo`,
      `$JS.ACK.cg_cmd_v1r4.tool_text__demo.${ACK}`,
    ],
    hears: [`${P}.cmd.tool.text.>`, `${P}.cmd.tool.text.run`, "cg.v1r4.demo.*.cmd.tool.text.>", "_INBOX_text__demo.>"],
    mayNotPublish: [
      ...OTHERS_GATEWAY,
      `${P}.cmd.sys.ui.action`,
      `${P}.rpc.gateway.legacy.settle`,
      "_INBOX_text__demo.1",
      // The same target in another project.
      `${JS}.CONSUMER.MSG.NEXT.cg_cmd_v1r4.tool_text__elsewhere`,
      `${JS}.CONSUMER.INFO.cg_cmd_v1r4.tool_text__elsewhere`,
      `$JS.ACK.cg_cmd_v1r4.tool_text__elsewhere.${ACK}`,
      `${JS}.CONSUMER.MSG.NEXT.cg_cmd_v1r4.tool_text`,
      `$JS.ACK.cg_cmd_v1r4.tool_text.${ACK}`,
      `${ELSEWHERE}.rpc.gateway.text.attach`,
    ],
    mayNotHear: [...EVENTS, `${P}.cmd.tool.legacy.>`, "_INBOX_legacy__demo.>"],
  },
  legacy: {
    publishes: ["get_card", "put_card", "report", "settle"].map((operation) => `${P}.rpc.gateway.legacy.${operation}`),
    hears: [`${P}.cmd.tool.legacy.>`, "_INBOX_legacy__demo.>"],
    mayNotPublish: [
      ...OTHERS_GATEWAY,
      `${P}.cmd.sys.ui.action`,
      `${P}.rpc.gateway.text.settle`,
      `${P}.rpc.gateway.legacy.lease`,
      `${P}.rpc.gateway.legacy.register`,
      `${JS}.CONSUMER.MSG.NEXT.cg_cmd_v1r4.tool_text__demo`,
      `${JS}.CONSUMER.MSG.NEXT.cg_cmd_v1r4.tool_legacy__demo`,
      `$JS.ACK.cg_cmd_v1r4.tool_text__demo.${ACK}`,
    ],
    mayNotHear: [...EVENTS, `${P}.cmd.tool.text.>`, "_INBOX_text__demo.>"],
  },
  ui_demo: {
    publishes: [`${P}.cmd.sys.ui.action`, "cg.v1r4.demo.private.cmd.sys.ui.action"],
    hears: [...EVENTS, "_INBOX_ui_demo.>"],
    mayNotPublish: [
      ...OTHERS_GATEWAY,
      `${ELSEWHERE}.cmd.sys.ui.action`,
      `${P}.cmd.sys.ui.other`,
      `${P}.rpc.gateway.text.settle`,
      `${P}.rpc.gateway.ui.settle`,
      `${JS}.CONSUMER.MSG.NEXT.cg_cmd_v1r4.tool_text__demo`,
      `$JS.ACK.cg_cmd_v1r4.tool_text__demo.${ACK}`,
    ],
    mayNotHear: [`${P}.cmd.tool.text.>`, `${P}.cmd.sys.ui.action`, "_INBOX_text__demo.>"],
  },
  observer_demo: {
    publishes: [],
    hears: [...EVENTS],
    mayNotPublish: [
      ...OTHERS_GATEWAY,
      `${P}.cmd.sys.ui.action`,
      `${P}.rpc.gateway.text.settle`,
      `${P}.rpc.gateway.observer_demo.get_tool`,
      `${JS}.CONSUMER.MSG.NEXT.cg_cmd_v1r4.tool_text__demo`,
      `$JS.ACK.cg_cmd_v1r4.tool_text__demo.${ACK}`,
    ],
    mayNotHear: [`${P}.cmd.tool.text.>`, "_INBOX_text__demo.>", "_INBOX_observer_demo.>"],
  },
};

/** What the server says about one message or one subscription. */
const publish = async (user: DeployedUser, subject: string): Promise<readonly string[]> => {
  clientOf(user).publish(subject, "{}");
  return clientOf(user).flush();
};
const subscribe = async (user: DeployedUser, subject: string): Promise<readonly string[]> => {
  clientOf(user).subscribe(subject);
  return clientOf(user).flush();
};
const refusal = (verb: "Publish" | "Subscription", subject: string): string =>
  `Permissions Violation for ${verb} to "${subject}"`;

/** How many messages of each subject the streams hold. */
const storedSubjects = async (): Promise<unknown> => {
  const held = ["cg_cmd_v1r4", "cg_evt_v1r4"].map(async (stream) => {
    const ask = JSON.stringify({ subjects_filter: ">" });
    const { payload } = await clientOf("engine").request(`${JS}.STREAM.INFO.${stream}`, ask);
    return (JSON.parse(payload) as { state: { subjects: unknown } }).state.subjects;
  });
  return Promise.all(held);
};

/** One message of the durable `tool_text__demo`, or what the server says instead. */
const pull = async (client: WireClient): Promise<WireMessage> => {
  const box = client.subscribe(`${client.inbox}.pull`);
  client.publish(`${JS}.CONSUMER.MSG.NEXT.cg_cmd_v1r4.tool_text__demo`, JSON.stringify({ batch: 1, no_wait: true }), {
    reply: `${client.inbox}.pull`,
  });
  await eventually(() => box.length > 0);
  return box[0] as WireMessage;
};

describe.each(Object.entries(RIGHTS))("%s", (name, rights) => {
  const user = name as DeployedUser;

  test(`[API-5-4] [SEC-12-1] ${name} publishes what it needs, and everything else is refused by the server`, async () => {
    for (const subject of rights.publishes) expect(await publish(user, subject), subject).toEqual([]);
    for (const subject of [...ONLY_THE_PLANE, ...rights.mayNotPublish])
      expect(await publish(user, subject), subject).toEqual([refusal("Publish", subject)]);
  });

  test(`[API-5-4] [SEC-12-1] ${name} hears what it needs, and everything else is refused by the server`, async () => {
    for (const subject of rights.hears) expect(await subscribe(user, subject), subject).toEqual([]);
    for (const subject of [...NOT_TO_HEAR, ...rights.mayNotHear])
      expect(await subscribe(user, subject), subject).toEqual([refusal("Subscription", subject)]);
  });
});

test("[API-5-4] the plane itself publishes, makes and answers what its users may not", async () => {
  const needs = [
    `${P}.cmd.agent.pool.wakeup`,
    `${P}.cmd.tool.text.run`,
    `${P}.evt.agent.a1.task`,
    `${P}.str.agent.a1.part`,
    `${JS}.STREAM.CREATE.cg_cmd_v1r4`,
    `${JS}.STREAM.INFO.cg_cmd_v1r4`,
    `${JS}.CONSUMER.MSG.NEXT.cg_cmd_v1r4.tool_text__demo`,
    `$JS.ACK.cg_cmd_v1r4.tool_text__demo.${ACK}`,
  ];
  for (const subject of needs) expect(await publish("engine", subject), subject).toEqual([]);
  for (const subject of ["cg.v1r4.*.*.rpc.gateway.*.>", `${P}.evt.>`, "_INBOX_engine.>"])
    expect(await subscribe("engine", subject), subject).toEqual([]);
  // It answers where it was asked to, and writes into nobody's inbox unasked.
  for (const subject of ["_INBOX_text__demo.guess", "$SYS.REQ.SERVER.PING", "anything"])
    expect(await publish("engine", subject), subject).toEqual([refusal("Publish", subject)]);
});

test("[SEC-12-1] refused messages went nowhere: the streams hold what the plane published", async () => {
  const before = await storedSubjects();
  for (const user of ["text", "legacy", "observer_demo"] as const)
    for (const subject of [`${P}.cmd.agent.pool.wakeup`, `${P}.cmd.tool.other.run`]) await publish(user, subject);
  expect(await storedSubjects()).toEqual(before);
  await publish("engine", `${P}.cmd.tool.other.run`);
  expect(await storedSubjects()).not.toEqual(before);
});

test("[API-5-4] [SEC-12-2] a tool takes the commands of its own durable, whose name the plane chose", async () => {
  await publish("engine", `${P}.cmd.tool.text.walk`);
  const text = clientOf("text");
  for (;;) {
    // What an earlier test left behind is taken first.
    const command = await pull(text);
    expect(command.status).toBeUndefined();
    text.publish(command.reply ?? "", "+ACK");
    if (command.subject === `${P}.cmd.tool.text.walk`) break;
  }
  expect(await text.flush()).toEqual([]);
});

test("[API-5-3] a plain subscription hears a command once, and a command nobody heard is not kept for it", async () => {
  const legacy = clientOf("legacy");
  await publish("engine", `${P}.cmd.tool.legacy.unheard`);
  const heard = legacy.subscribe(`${P}.cmd.tool.legacy.*`);
  expect(await legacy.flush()).toEqual([]);
  await publish("engine", `${P}.cmd.tool.legacy.heard`);
  await legacy.flush();
  expect(heard.map(({ subject }) => subject)).toEqual([`${P}.cmd.tool.legacy.heard`]);
});

test("[SEC-12-1] nobody comes in without a password, and the server does not start without one", async () => {
  for (const [user, password] of [
    [undefined, undefined],
    ["text", "pw_of_engine"],
    ["text", ""],
    ["root", "pw_of_engine"],
  ] as const) {
    await using stranger = await connectWire({ port: server.port, user, password });
    expect((await stranger.closed).join()).toMatch(/Authorization Violation/);
  }
  await expect(startDeployedServer({ users: USERS.filter((user) => user !== "engine") })).rejects.toThrow(
    /TOOLPLANE_NATS_ENGINE_PASSWORD/,
  );
});

test("[SEC-12-1] a message beyond max_payload ends the connection before it is read", async () => {
  await using tool = await server.connect("text");
  tool.say(`PUB ${P}.rpc.gateway.text.settle ${100 * 1024 * 1024}\r\n{"status":`);
  expect(await tool.closed).toEqual(["Maximum Payload Violation"]);
  // Others do not notice.
  expect(await publish("text", `${P}.rpc.gateway.text.settle`)).toEqual([]);
});

test("[SEC-12-1] add-user.sh prints the users of users.conf, and refuses names that would open more", () => {
  const addUser = (...names: string[]): string =>
    execFileSync("sh", [join(DEPLOYED, "add-user.sh"), ...names], { encoding: "utf8", stdio: "pipe" });
  const users = readFileSync(join(DEPLOYED, "users.conf"), "utf8");
  for (const names of [["tool", "text"], ["plain", "legacy"], ["ui"], ["observer"]])
    expect(users).toContain(addUser(...names, "demo"));
  expect(addUser("tool", "text", "one", "two")).toContain('subject: "cg.v1r4.two.*.rpc.gateway.text.>"');
  for (const names of [
    ["a.b", "demo"],
    [">", "demo"],
    ["*", "demo"],
    ["a", "*"],
    ["a"],
    ["engine", "demo"],
    ["", "demo"],
    ["a__b", "demo"],
    ["a_", "demo"],
    ["a", "_demo"],
    ["Pay", "demo"],
    ["a-b", "demo"],
  ])
    expect(() => addUser("tool", ...names)).toThrow(/add-user.sh: /);
});
