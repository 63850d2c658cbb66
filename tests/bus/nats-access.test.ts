// Getting in: users, tokens, credentials, certificates; and what is said when that fails. Secrets stay out of every error
// and every line of the log.

import { type AddressInfo, createServer } from "node:net";
import { inspect } from "node:util";
import { createNatsBus, type NatsOptions, openNatsLink } from "@toolplane/bus/nats";
import { silentLog } from "@toolplane/engine";
import { findFreePort } from "@toolplane/processes";
import { createNatsCredentials, createTestCertificates, startNats, type TestNats } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { startRelayTo } from "./tcp-relay.ts";

const command = { subject: "cg.v1r4.p1.public.cmd.tool.desk.run", headers: {}, payload: "x" };
const SECRET = "s3cr&t/:@";

/** Whether the whole way is open: the connection, the inbox, JetStream. */
const publishes = async (options: Omit<NatsOptions, "name">): Promise<boolean> => {
  const link = await openNatsLink({ name: "test", connectMs: 3_000, ...options }, { log: silentLog });
  const bus = createNatsBus({ link, log: silentLog, bury: () => Promise.resolve() });
  await bus.publish([command]);
  await bus.close();
  await link.close();
  return true;
};

const failure = (options: Omit<NatsOptions, "name">): Promise<unknown> =>
  publishes(options).then(
    () => "it worked",
    (error: unknown) => error,
  );

const withUser = (server: TestNats, text: string): string => server.url.replace("nats://", `nats://${text}@`);

test("[ARCH-6-65] a user and a password in the address; a wrong one is refused without being repeated", async () => {
  await using server = await startNats({
    config: `authorization { user: plane, password: ${JSON.stringify(SECRET)} }`,
  });
  const right = withUser(server, `plane:${encodeURIComponent(SECRET)}`);
  expect(await publishes({ url: right })).toBe(true);
  for (const url of [server.url, withUser(server, "plane:wr0ng-one"), withUser(server, "t0ken-wr0ng-one")]) {
    const error = await failure({ url });
    expect(error).toMatchObject({ code: "auth_failed", message: expect.stringContaining(`127.0.0.1:${server.port}`) });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("wr0ng-one");
  }
});

test("a token in the address", async () => {
  await using server = await startNats({ config: `authorization { token: ${JSON.stringify(SECRET)} }` });
  expect(await publishes({ url: withUser(server, encodeURIComponent(SECRET)) })).toBe(true);
});

test("a credentials file", async () => {
  const { config, credentials } = createNatsCredentials();
  await using server = await startNats({ config });
  expect(await publishes({ url: server.url, credentials })).toBe(true);
  expect(await failure({ url: server.url, credentials: createNatsCredentials().credentials })).toMatchObject({
    code: "auth_failed",
  });
  expect(await failure({ url: server.url, credentials: "no credentials" })).toMatchObject({ name: "UsageError" });
});

const tlsOf = (server: TestNats): string => server.url.replace("nats://", "tls://");

test("certificates: the server's by its authority, ours when the server asks for one", async () => {
  using made = createTestCertificates();
  using foreign = createTestCertificates();
  const { ca, cert, key } = made.files;
  const files = `cert_file: ${JSON.stringify(cert)}, key_file: ${JSON.stringify(key)}`;
  await using plain = await startNats({ config: `tls { ${files} }` });
  using numbered = createTestCertificates("IP:127.0.0.1");
  const onlyNumber = `cert_file: ${JSON.stringify(numbered.files.cert)}, key_file: ${JSON.stringify(numbered.files.key)}`;
  await using byNumber = await startNats({ config: `tls { ${onlyNumber} }` });
  await using mutual = await startNats({ config: `tls { ${files}, ca_file: ${JSON.stringify(ca)}, verify: true }` });
  using elsewhere = await startRelayTo(plain.port, () => true);
  const authority = { ca: made.ca };
  expect(await publishes({ url: tlsOf(plain), tls: authority })).toBe(true);
  expect(await publishes({ url: plain.url, tls: authority })).toBe(true);
  expect(await publishes({ url: tlsOf(byNumber), tls: { ca: numbered.ca } })).toBe(true);
  expect(await publishes({ url: mutual.url, tls: { ...authority, ...made.client } })).toBe(true);

  const signed = "give the certificate authority that signed it";
  const refused: readonly (readonly [Omit<NatsOptions, "name">, string])[] = [
    [{ url: tlsOf(plain) }, signed],
    [{ url: tlsOf(plain), tls: { ca: foreign.ca } }, signed],
    [{ url: tlsOf(plain), tls: { ca: "no certificate" } }, signed],
    [{ url: `tls://${elsewhere.address}`, tls: authority }, "is for other names"],
    [{ url: mutual.url, tls: authority, connectMs: 500 }, "whether it wants a client certificate"],
    [{ url: mutual.url, tls: { ...authority, ...foreign.client }, connectMs: 500 }, "wants a client certificate"],
  ];
  for (const [options, sentence] of refused)
    expect(await failure(options)).toMatchObject({
      code: "upstream_unavailable",
      message: expect.stringContaining(sentence),
    });
  const wrongPair = { ...authority, cert: made.client.cert, key: foreign.client.key };
  expect(await failure({ url: mutual.url, tls: wrongPair })).toMatchObject({
    name: "UsageError",
    message: expect.stringContaining("of one pair"),
  });
});

test("a server without TLS, a host nobody knows, something that is not NATS: none is told that nobody answers", async () => {
  using made = createTestCertificates();
  await using server = await startNats();
  const other = createServer((socket) => socket.end("SSH-2.0-other\r\n"));
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  const cases: readonly (readonly [Omit<NatsOptions, "name">, string])[] = [
    [{ url: tlsOf(server) }, "has no TLS; use a nats:// address"],
    [{ url: server.url, tls: { ca: made.ca } }, "has no TLS; use a nats:// address"],
    [{ url: "nats://nobody.invalid" }, "is not known; correct the address"],
    [{ url: `nats://127.0.0.1:${port}` }, "is not a NATS server, or shuts us out"],
  ];
  for (const [options, sentence] of cases)
    expect(await failure(options)).toMatchObject({
      code: "upstream_unavailable",
      message: expect.stringContaining(sentence),
    });
  other.close();
});

test("a server that hangs, or is lost, while the connection is opened is given up in time", async () => {
  await using server = await startNats();
  using silent = await startRelayTo(server.port, (chunk) => !chunk.includes("SUB "));
  expect(await failure({ url: `nats://${silent.address}`, connectMs: 400 })).toMatchObject({
    code: "upstream_unavailable",
    message: expect.stringContaining("within 400 ms"),
  });
  using cut = await startRelayTo(server.port, (chunk) => {
    if (chunk.includes("SUB ")) cut[Symbol.dispose]();
    return true;
  });
  expect(await failure({ url: `nats://${cut.address}` })).toMatchObject({
    code: "upstream_unavailable",
    message: expect.stringContaining("was lost while it was opened"),
  });
});

describe("several addresses", () => {
  test("the first that answers will do, and one that was away at the start is come back to", async () => {
    await using first = await startNats();
    await using second = await startNats();
    const dead = `nats://127.0.0.1:${await findFreePort()}`;
    expect(await publishes({ url: `${dead},${first.url}` })).toBe(true);

    await first.kill();
    const link = await openNatsLink({ url: `${first.url}, ${second.url}`, name: "test" }, { log: silentLog });
    const bus = createNatsBus({ link, log: silentLog, bury: () => Promise.resolve() });
    await bus.publish([command]);
    await first.restart();
    const back = new Promise<void>((resolve) => link.onReconnect(resolve));
    await second.kill();
    await back;
    await bus.publish([command]);
    await bus.close();
    await link.close();
  });

  test("[ARCH-6-65] when nobody answers the sentence names them all, without secrets, in time", async () => {
    const ports = [await findFreePort(), await findFreePort()];
    const url = ports.map((port) => `nats://plane:${encodeURIComponent(SECRET)}@127.0.0.1:${port}`).join(",");
    const error = await failure({ url });
    expect(error).toMatchObject({ code: "upstream_unavailable" });
    for (const port of ports) expect(String(error)).toContain(`127.0.0.1:${port}`);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(SECRET);
  });
});

test("a host that takes the connection and says nothing is given up in time", async () => {
  const silent = createServer(() => {});
  const port = await findFreePort();
  await new Promise<void>((resolve) => silent.listen(port, "127.0.0.1", resolve));
  const error = await failure({ url: `nats://127.0.0.1:${port}`, connectMs: 300 });
  expect(error).toMatchObject({ code: "upstream_unavailable", message: expect.stringContaining("within 300 ms") });
  silent.close();
});

test("a user with an inbox of its own: its prefix is used, and missed by name when it is not given", async () => {
  const permissions = `{ publish: ">", subscribe: ["_INBOX_plane.>", "cg.>"] }`;
  const user = `{ user: plane, password: pw, permissions: ${permissions} }`;
  await using server = await startNats({ config: `authorization { users: [${user}] }` });
  const url = withUser(server, "plane:pw");
  expect(await publishes({ url, inboxPrefix: "_INBOX_plane" })).toBe(true);
  expect(await failure({ url })).toMatchObject({
    code: "auth_failed",
    message: expect.stringContaining("give the inbox prefix"),
  });
});

test("a user that may not publish there is told soon, as something that can be set right", async () => {
  const permissions = `{ publish: ["$JS.>"], subscribe: ["_INBOX.>"] }`;
  const user = `{ user: plane, password: pw, permissions: ${permissions} }`;
  await using server = await startNats({ config: `authorization { users: [${user}] }` });
  const url = withUser(server, "plane:pw");
  expect(await failure({ url })).toMatchObject({
    code: "upstream_unavailable",
    message: expect.stringContaining("may not publish"),
  });
});

test("a user that may not make streams is told which subject it is refused", async () => {
  await using server = await startNats({
    config: `authorization { users = [{ user: few, password: few, permissions { publish: "cg.>", subscribe: ">" } }] }`,
  });
  const link = await openNatsLink({ name: "test", url: withUser(server, "few:few") }, { log: silentLog });
  const bus = createNatsBus({ link, log: silentLog, bury: () => Promise.resolve() });
  const durable = { durable: "tool_desk", pattern: "cg.v1r4.*.*.cmd.tool.desk.>" };
  await expect(bus.ensureDurables([durable])).rejects.toMatchObject({
    code: "auth_failed",
    message: expect.stringContaining("$JS.API.STREAM.INFO.cg_cmd_v1r4"),
  });
  await bus.close();
  await link.close();
});

test("a user that may not listen there is told so, instead of serving nothing", async () => {
  const permissions = `{ publish: ">", subscribe: ["_INBOX.>"] }`;
  const user = `{ user: plane, password: pw, permissions: ${permissions} }`;
  await using server = await startNats({ config: `authorization { users: [${user}] }` });
  const link = await openNatsLink({ name: "test", url: withUser(server, "plane:pw") }, { log: silentLog });
  await expect(link.respond("cg.v1r4.*.*.rpc.x.>", "x", async () => undefined)).rejects.toMatchObject({
    code: "auth_failed",
    message: expect.stringContaining("may not listen to cg.v1r4.*.*.rpc.x.>"),
  });
  await link.close();
});
