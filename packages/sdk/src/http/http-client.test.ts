import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { createManualClock, settle, until } from "../../test/manual-clock.ts";
import { type Answerer, createScriptedServer } from "../../test/scripted-server.ts";
import { createHttpClient } from "./http-client.ts";

const REQUEST = { method: "GET", path: "/health", timeoutMs: 5_000 } as const;

/** A server that answers, or never does, and a client of it. */
const createWorld = async (answer: Answerer, below = "") => {
  const server = await createScriptedServer(answer);
  const clock = createManualClock();
  const client = createHttpClient({ url: server.url + below, token: "t", clock });
  const dispose = async (): Promise<void> => {
    await client.close();
    await server[Symbol.asyncDispose]();
  };
  return { server, clock, client, [Symbol.asyncDispose]: dispose };
};

describe("a server that was started again elsewhere", () => {
  const ok = () => ({ body: { ok: true } });

  test("[SEE-20] is found after a request that was not answered; that request is not sent again by itself", async () => {
    await using before = await createScriptedServer(() => ({ hangUp: true }));
    await using after = await createScriptedServer(ok);
    const places: (string | undefined)[] = [undefined, before.url, after.url];
    const find = () => places.shift();
    const client = createHttpClient({ url: before.url, token: "t", clock: createManualClock(), find });
    for (const _ of places.slice())
      await expect(client(REQUEST)).rejects.toMatchObject({ code: "upstream_unavailable" });
    expect(after.requests).toHaveLength(0);
    expect(await client(REQUEST)).toMatchObject({ body: { ok: true } });
    expect([before.requests.length, after.requests.length]).toEqual([3, 1]);
    await client.close();
  });

  test("[SEE-20] is asked at once when another plane, which does not know the token, took the address", async () => {
    await using other = await createScriptedServer(() => ({ status: 401, body: { error: { code: "unauthorized" } } }));
    await using after = await createScriptedServer(ok);
    let place = other.url;
    const find = () => place;
    const client = createHttpClient({ url: other.url, token: "t", clock: createManualClock(), find });
    await expect(client(REQUEST)).rejects.toMatchObject({ code: "unauthorized" });
    place = after.url;
    expect(await client(REQUEST)).toMatchObject({ body: { ok: true } });
    expect([other.requests.length, after.requests.length]).toEqual([2, 1]);
    await client.close();
  });
});

describe("the time a request has", () => {
  test("[API-5-H1] a server that says nothing is given up after it, with its address", async () => {
    await using world = await createWorld(() => undefined);
    const { server, client, clock } = world;
    const asked = client(REQUEST).catch((error: unknown) => error);
    await until(() => server.requests.length === 1, "the request arrives");
    await clock.advance(4_999);
    expect(clock.sleeping()).toBe(1);
    await clock.advance(1);
    expect(await asked).toMatchObject({
      code: "upstream_unavailable",
      message: `${server.url} did not answer within 5000 ms`,
    });
  });

  test("[API-5-H1] a request that was answered leaves nothing that waits", async () => {
    await using world = await createWorld(() => ({ body: { ok: true } }));
    expect(await world.client(REQUEST)).toMatchObject({ status: 200, body: { ok: true } });
    await settle();
    expect(world.clock.sleeping()).toBe(0);
  });

  test("[API-5-H1] the caller may give up before, also before it was sent", async () => {
    await using world = await createWorld(() => undefined);
    const { server, client, clock } = world;
    const enough = new AbortController();
    const asked = client({ ...REQUEST, signal: enough.signal }).catch((error: unknown) => error);
    await until(() => server.requests.length === 1, "the request arrives");
    enough.abort();
    expect(await asked).toMatchObject({ code: "canceled" });
    await settle();
    expect(clock.sleeping()).toBe(0);
    await expect(client({ ...REQUEST, signal: enough.signal })).rejects.toMatchObject({ code: "canceled" });
    expect(server.requests).toHaveLength(1);
  });

  test("[API-5-H1] an answer that stops in the middle is given up too", async () => {
    const half = createServer((socket) => {
      socket.on("data", () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"half":'));
    });
    await new Promise<void>((resolve) => half.listen(0, "127.0.0.1", resolve));
    const { port } = half.address() as { port: number };
    const clock = createManualClock();
    const client = createHttpClient({ url: `http://127.0.0.1:${port}`, clock });
    const asked = client(REQUEST).catch((error: unknown) => error);
    await until(() => clock.sleeping() === 1, "the request is on its way");
    await clock.advance(5_000);
    expect(await asked).toMatchObject({ code: "upstream_unavailable", message: expect.stringContaining("5000 ms") });
    await client.close();
    await new Promise((resolve) => half.close(resolve));
  });
});

describe("the way to the server", () => {
  test("[API-5-H1] an address may have a path of its own", async () => {
    await using world = await createWorld(() => ({ body: {} }), "/below/");
    await world.client({ method: "POST", path: "/health", text: '{"a":1}' });
    expect(world.server.requests[0]).toMatchObject({ path: "/below/health", body: { a: 1 } });
  });

  test.each(["127.0.0.1", "localhost"])(
    "[API-5-H1] a port of %s that nobody has is one sentence with the reason",
    async (host) => {
      const closed = createServer();
      await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
      const { port } = closed.address() as { port: number };
      await new Promise((resolve) => closed.close(resolve));
      const url = `http://${host}:${port}`;
      await expect(createHttpClient({ url, clock: createManualClock() })(REQUEST)).rejects.toMatchObject({
        code: "upstream_unavailable",
        message: `no Toolplane server answers at ${url}`,
        detail: { reason: "ECONNREFUSED" },
      });
    },
  );

  test("[API-5-H1] what is not an address of a server is said so", () => {
    for (const url of ["nats://127.0.0.1", "127.0.0.1:7420", "http://"])
      expect(() => createHttpClient({ url, clock: createManualClock() })).toThrow("the address of a server is such as");
  });

  test("[API-5-H1] a proxy that the environment names is not used", async () => {
    await using world = await createWorld(() => ({ body: {} }));
    process.env.http_proxy = "http://127.0.0.1:1";
    try {
      expect(await world.client(REQUEST)).toMatchObject({ status: 200 });
    } finally {
      delete process.env.http_proxy;
    }
  });
});
