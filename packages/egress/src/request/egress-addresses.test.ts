// Every way to write a local address, against a real server that listens on loopback: not one connection is made.

import { describe, expect, test } from "vitest";
import { allow, createNames, failureOf, startServer } from "../../test/servers.ts";
import { createEgress } from "./egress.ts";

/** Hosts as a profile or a tool could write them; https and a listed port, so that only the address can be the reason. */
const SPELLINGS = [
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "127.255.255.254",
  "2130706433",
  "0x7f000001",
  "0x7f.1",
  "0x7F.0x0.0x0.0x1",
  "0177.0.0.1",
  "017700000001",
  "0177.1",
  "127.0.0.1.",
  "0x7f.1.",
  "%31%32%37.0.0.1",
  "１２７.0.0.1",
  "127。0。0。1",
  "①②⑦.0.0.1",
  "0",
  "0.0.0.0",
  "0x0",
  "0.1.2.3",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[0000:0000:0000:0000:0000:0000:0000:0001]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:FFFF:7F00:0001]",
  "[::ffff:10.0.0.1]",
  "[::ffff:169.254.169.254]",
  "[::127.0.0.1]",
  "[::ffff:0:127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b::169.254.169.254]",
  "[64:ff9b:1::127.0.0.1]",
  "[64:ff9b:1::808:808]",
  "[2002:7f00:1::]",
  "[2002:a00:1::1]",
  "[2002:808:808::1]",
  "[2001:0:7f00:1::80ff:fffe]",
  "[2001::1]",
  "[fe80::1]",
  "[febf::1]",
  "[fec0::1]",
  "[fc00::1]",
  "[fd00::1]",
  "[fd00:ec2::254]",
  "[FD00:0EC2:0:0:0:0:0:254]",
  "[ff02::1]",
  "[100::1]",
  "[2001:db8::1]",
  "[2001:2::1]",
  "[3fff::1]",
  "[5f00::1]",
  "[4000::1]",
  "10.0.0.1",
  "10.1",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.0.1",
  "192.168.257",
  "3232235521",
  "169.254.169.254",
  "169.254.170.2",
  "0xa9fea9fe",
  "2852039166",
  "0251.0376.0251.0376",
  "100.64.0.1",
  "100.127.255.255",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "192.0.2.1",
  "198.51.100.1",
  "203.0.113.1",
  "198.18.0.1",
  "192.88.99.1",
  "224.0.0.1",
  "239.255.255.250",
  "240.0.0.1",
  "255.255.255.255",
  "localhost",
  "LOCALHOST",
  "localhost.",
  "a.b.localhost",
] as const;

/** What a resolver may answer for a harmless name. */
const ANSWERS = [
  ["127.0.0.1"],
  ["127.8.8.8"],
  ["::1"],
  ["::ffff:127.0.0.1"],
  ["::ffff:7f00:1"],
  ["::7f00:1"],
  ["64:ff9b::7f00:1"],
  ["64:ff9b:1::7f00:1"],
  ["10.1.2.3"],
  ["172.20.0.1"],
  ["192.168.1.1"],
  ["169.254.169.254"],
  ["100.64.1.1"],
  ["168.63.129.16"],
  ["fd00:ec2::254"],
  ["fe80::1"],
  ["fe80::1%lo"],
  ["0.0.0.0"],
  ["::"],
  ["255.255.255.255"],
  ["ff02::1"],
  ["2002:7f00:1::"],
  ["not an address"],
  ["0x7f.1"],
  ["93.184.216.34", "127.0.0.1"],
  ["2606:2800:220:1:248:1893:25c8:1946", "::1"],
] as const satisfies readonly (readonly string[])[];

const harmless = (): never => {
  throw new Error("it was connected to");
};

test(`[SEC-6-3] ${SPELLINGS.length} spellings of local, metadata and reserved addresses: refused, 0 connections`, async () => {
  const servers = [await startServer(harmless), await startServer(harmless, "::1")];
  const names = createNames({});
  for (const { port } of servers) {
    const egress = createEgress({ hosts: "any", ports: [port], redirects: 3, resolve: names.resolve });
    for (const host of SPELLINGS) {
      const failure = await failureOf(egress.fetch(`https://${host}:${port}/`, { headers: { "x-key": "canary" } }));
      expect.soft(failure, host).toMatchObject({ code: "auth_failed", message: expect.not.stringContaining("canary") });
    }
    await egress.close();
  }
  expect(names.asked).toEqual([]);
  expect(servers.map(({ connections }) => connections())).toEqual([0, 0]);
});

describe("what a name resolves to", () => {
  test.each(ANSWERS.map((answer) => [answer]))("[SEC-6-3] %j is refused, whatever stands beside it", async (answer) => {
    const servers = [await startServer(harmless), await startServer(harmless, "::1")];
    for (const { port } of servers) {
      const { resolve } = createNames({ "good.example": answer });
      const egress = createEgress({ hosts: "any", ports: [port], resolve });
      const failure = await failureOf(egress.fetch(`https://good.example.:${port}/`));
      expect(failure).toMatchObject({ code: "auth_failed", message: expect.stringContaining("good.example") });
      await egress.close();
    }
    expect(servers.map(({ connections }) => connections())).toEqual([0, 0]);
  });

  test("[SEC-6-3] the dispatcher alone refuses too", async () => {
    const server = await startServer(harmless);
    const { resolve } = createNames({ "good.example": ["127.0.0.1"] });
    const { dispatcher, close } = createEgress({ hosts: "any", ports: [server.port], resolve });
    for (const host of ["good.example", "127.0.0.1", "[::ffff:127.0.0.1]"]) {
      const origin = `https://${host}:${server.port}`;
      const failure = await failureOf(dispatcher.request({ origin, path: "/", method: "GET" }));
      expect(failure).toMatchObject({ code: "auth_failed" });
    }
    await close();
    expect(server.connections()).toBe(0);
  });
});

describe("what the operator of the plane allows", () => {
  test("[SEC-6-1] one scheme, host and port; nothing near it", async () => {
    const server = await startServer((_, answer) => answer.end("hello"));
    const other = await startServer(harmless);
    const { resolve } = createNames({ "box.internal": ["127.0.0.1"], "other.internal": ["127.0.0.1"] });
    const origins = allow(`http://127.0.0.1:${server.port}`, `http://box.internal:${server.port}`);
    const egress = createEgress({ hosts: "any", allow: origins, resolve });
    for (const host of ["127.0.0.1", "0x7f.1", "2130706433", "box.internal", "BOX.internal."])
      expect(await (await egress.fetch(`http://${host}:${server.port}/v1`)).text(), host).toBe("hello");
    for (const address of [
      `http://127.0.0.1:${other.port}`,
      `https://127.0.0.1:${server.port}`,
      `http://127.0.0.2:${server.port}`,
      `http://other.internal:${server.port}`,
      `http://localhost:${server.port}`,
    ])
      expect(await failureOf(egress.fetch(address)), address).toMatchObject({ code: "auth_failed" });
    await egress.close();
    expect(other.connections()).toBe(0);
  });

  test("[SEC-6-3] a name that is allowed still may not lead to a metadata service", async () => {
    const { resolve } = createNames({ "box.internal": ["169.254.169.254"] });
    const egress = createEgress({ hosts: "any", allow: allow("http://box.internal"), resolve });
    expect(await failureOf(egress.fetch("http://box.internal/latest"))).toMatchObject({
      code: "auth_failed",
      message: expect.stringContaining("no setting allows that"),
    });
  });

  test("[SEC-6-2] a host that a policy does not list is refused even if the plane allows its address", async () => {
    const server = await startServer(harmless);
    const origin = `http://127.0.0.1:${server.port}`;
    const egress = createEgress({ hosts: ["api.example.com"], allow: allow(origin) });
    expect(await failureOf(egress.fetch(origin))).toMatchObject({
      code: "auth_failed",
      message: expect.stringContaining("(api.example.com)"),
    });
    expect(server.connections()).toBe(0);
  });
});
