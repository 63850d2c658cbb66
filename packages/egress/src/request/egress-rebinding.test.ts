import { readFileSync } from "node:fs";
import { createTestCertificates } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { allow, createNames, failureOf, startServer, startTlsServer } from "../../test/servers.ts";
import { createDial, type Dial } from "./dial.ts";
import { createEgress } from "./egress.ts";

const PUBLIC = "93.184.216.34";

describe("a resolver that changes its answer", () => {
  test("[SEC-6-4] is asked once for a connection, which goes to the address that was checked", async () => {
    const first = await startServer((_, answer) => answer.end("first"));
    const second = await startServer((_, answer) => answer.end("second"), "127.0.0.2", first.port);
    let asked = 0;
    const resolve = async (): Promise<readonly string[]> => [asked++ === 0 ? "127.0.0.1" : "127.0.0.2"];
    const origin = `http://box.internal:${first.port}`;
    const egress = createEgress({ hosts: "any", allow: allow(origin), resolve });
    expect(await (await egress.fetch(origin)).text()).toBe("first");
    expect([asked, first.connections(), second.connections()]).toEqual([1, 1, 0]);
    await egress.close();
  });

  test("[SEC-6-4] public when it is checked and local afterwards: the local server sees nobody", async () => {
    const victim = await startServer(() => undefined);
    let asked = 0;
    const resolve = async (): Promise<readonly string[]> => [asked++ === 0 ? PUBLIC : "127.0.0.1"];
    const dialed: string[] = [];
    // No packet leaves the machine: the public address does not answer.
    const dial: Dial = async (request) => {
      dialed.push(...request.checked.map(({ address }) => address));
      if (dialed.at(-1) !== PUBLIC) return createDial()(request);
      throw Object.assign(new TypeError("away"), { code: "ECONNREFUSED" });
    };
    const egress = createEgress({ hosts: "any", ports: [victim.port], resolve, dial });
    const address = `https://swap.example:${victim.port}`;
    expect(await failureOf(egress.fetch(address))).toMatchObject({ code: "upstream_unavailable" });
    expect(await failureOf(egress.fetch(address))).toMatchObject({ code: "auth_failed" });
    expect([dialed, asked, victim.connections()]).toEqual([[PUBLIC], 2, 0]);
    await egress.close();
  });

  test("[SEC-6-4] a connection that ended elsewhere carries nothing", async () => {
    const victim = await startServer(() => undefined);
    const { resolve } = createNames({ "swap.example": [PUBLIC] });
    const dial: Dial = (request) => createDial()({ ...request, checked: [{ address: "127.0.0.1", family: 4 }] });
    const origin = `http://swap.example:${victim.port}`;
    const egress = createEgress({ hosts: "any", allow: allow(origin), resolve, dial });
    expect(await failureOf(egress.fetch(origin))).toMatchObject({
      code: "auth_failed",
      message: expect.stringContaining("not checked"),
    });
    await egress.close();
  });
});

test("[SEC-6-4] TLS asks for the name that was asked for, and refuses a certificate of another", async () => {
  using made = createTestCertificates("DNS:models.internal");
  const certificate = { key: readFileSync(made.files.key, "utf8"), cert: readFileSync(made.files.cert, "utf8") };
  const server = await startTlsServer(certificate, (_, answer) => answer.end("hello"));
  const { resolve } = createNames({ "models.internal": ["127.0.0.1"], "other.internal": ["127.0.0.1"] });
  const at = (host: string): string => `https://${host}:${server.port}`;
  const egress = createEgress({
    hosts: "any",
    allow: allow(at("models.internal"), at("other.internal"), at("127.0.0.1")),
    resolve,
    dial: createDial({ ca: made.ca }),
  });
  expect(await (await egress.fetch(at("models.internal"))).text()).toBe("hello");
  for (const host of ["other.internal", "127.0.0.1"])
    expect(await failureOf(egress.fetch(at(host)))).toMatchObject({
      code: "upstream_unavailable",
      message: expect.stringContaining("certificate"),
    });
  const { origin, ...asHost } = { origin: at("other.internal"), path: "/", method: "GET" as const };
  const forged = egress.dispatcher.request({ origin, ...asHost, headers: { host: "models.internal" } });
  expect(await failureOf(forged)).toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
  await egress.close();
  const untrusting = createEgress({ hosts: "any", allow: allow(at("models.internal")), resolve });
  expect(await failureOf(untrusting.fetch(at("models.internal")))).toMatchObject({ code: "upstream_unavailable" });
  await untrusting.close();
});
