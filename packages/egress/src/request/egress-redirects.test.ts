import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, test } from "vitest";
import { allow, type CountingServer, createNames, failureOf, startServer } from "../../test/servers.ts";
import { createEgress, type Egress } from "./egress.ts";

interface Seen {
  readonly at: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface World {
  readonly seen: Seen[];
  readonly a: string;
  readonly b: string;
  readonly victim: CountingServer;
  readonly egress: Egress;
}

const LISTED = ["a.internal", "b.internal", "c.internal", "127.0.0.1", "169.254.169.254"];
const KEYS = { authorization: "Bearer canary", cookie: "s=canary", "x-api-key": "canary", "x-goog-api-key": "canary" };

/** Two sites that are allowed and one that is not. `/to?status=&url=` redirects. */
const startWorld = async (): Promise<World> => {
  const seen: Seen[] = [];
  const site = (): Promise<CountingServer> =>
    startServer((request, answer) => {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      request.on("end", () => {
        const url = new URL(request.url ?? "/", `http://${request.headers.host}`);
        seen.push({ at: url.origin + url.pathname, method: request.method ?? "", headers: request.headers, body });
        const location = url.searchParams.get("url");
        if (location === null) answer.end("arrived");
        else answer.writeHead(Number(url.searchParams.get("status") ?? 302), { location }).end("moved");
      });
    });
  const [first, second] = [await site(), await site()];
  const victim = await startServer(() => undefined);
  const [a, b] = [`http://a.internal:${first.port}`, `http://b.internal:${second.port}`];
  const { resolve } = createNames({ "a.internal": ["127.0.0.1"], "b.internal": ["127.0.0.1"], "c.internal": ["::1"] });
  const egress = createEgress({ hosts: LISTED, allow: allow(a, b), redirects: 3, resolve });
  return { seen, a, b, victim, egress };
};

const to = (from: string, url: string, status = 302): string =>
  `${from}/to?status=${status}&url=${encodeURIComponent(url)}`;

describe("redirects", () => {
  test("[SEC-6-5] within one origin everything goes along", async () => {
    const { a, egress, seen } = await startWorld();
    const response = await egress.fetch(to(a, "/there"), { headers: KEYS });
    expect([await response.text(), response.url]).toEqual(["arrived", `${a}/there`]);
    expect(seen[1]?.headers).toMatchObject(KEYS);
    await egress.close();
  });

  test("[SEC-6-5] to another origin no credential goes along, whatever its header is called, and none comes back", async () => {
    const { a, b, egress, seen } = await startWorld();
    const address = to(a, to(b, `${a}/back`));
    await (await egress.fetch(address, { headers: { ...KEYS, accept: "text/plain" } })).text();
    expect(seen.map(({ at }) => at)).toEqual([`${a}/to`, `${b}/to`, `${a}/back`]);
    expect(seen[1]?.headers.accept).toBe("text/plain");
    expect(JSON.stringify(seen.slice(1))).not.toContain("canary");
    await egress.close();
  });

  test.each([
    ["a metadata service", () => "http://169.254.169.254/latest/meta-data/"],
    ["this machine", ({ victim }: World) => `http://127.0.0.1:${victim.port}/`],
    ["this machine, spelled otherwise", ({ victim }: World) => `http://0x7f.1:${victim.port}/`],
    ["this machine, by a name", ({ victim }: World) => `http://c.internal:${victim.port}/`],
    ["a host that is not listed", () => "https://evil.example/"],
    ["another scheme", () => "file:///etc/passwd"],
    ["credentials in the address", ({ b }: World) => b.replace("http://", "http://user:pass@")],
    ["more than three others", ({ a }: World) => to(a, to(a, to(a, to(a, "/far"))))],
  ])("[SEC-6-5] to %s are not followed", async (_what, where) => {
    const world = await startWorld();
    const failure = await failureOf(world.egress.fetch(to(world.a, where(world)), { headers: KEYS }));
    expect(failure).toMatchObject({ code: expect.stringMatching(/^(auth_failed|bad_request|upstream_unavailable)$/) });
    expect((failure as Error).message).not.toContain("canary");
    expect(world.victim.connections()).toBe(0);
    await world.egress.close();
  });

  test.each([
    [301, "POST", "GET", ""],
    [302, "POST", "GET", ""],
    [303, "POST", "GET", ""],
    [303, "PUT", "GET", ""],
    [302, "PUT", "PUT", "{}"],
    [307, "POST", "POST", "{}"],
    [308, "PUT", "PUT", "{}"],
  ])("[SEC-6-5] %d makes of %s a %s", async (status, method, next, body) => {
    const { a, egress, seen } = await startWorld();
    const init = { method, body: "{}", headers: { "content-type": "application/json" } };
    await (await egress.fetch(to(a, "/there", status), init)).text();
    expect(seen[1]).toMatchObject({ method: next, body });
    expect(seen[1]?.headers["content-type"]).toBe(body === "" ? undefined : "application/json");
    await egress.close();
  });

  test("[SEC-6-5] a body is not sent on to another origin", async () => {
    const { a, b, egress, seen } = await startWorld();
    const failure = await failureOf(egress.fetch(to(a, b, 307), { method: "POST", body: "canary" }));
    expect(failure).toMatchObject({ code: "auth_failed", message: expect.stringContaining("body") });
    expect(seen).toHaveLength(1);
    await egress.close();
  });
});
