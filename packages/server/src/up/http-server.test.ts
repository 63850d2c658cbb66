import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { hostname } from "node:os";
import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import { listen, servedHosts } from "./http-server.ts";

test.each<[string, readonly string[]]>([
  ["127.0.0.1", ["127.0.0.1"]],
  ["::1", ["[::1]"]],
  ["Plane.Local", ["plane.local"]],
])("a server on %s answers to %j", (host, expected) => {
  expect(servedHosts(host)).toEqual(expected);
});

test("one on every interface answers to each of them, to the machine's name and to itself", () => {
  expect(servedHosts("0.0.0.0")).toEqual(expect.arrayContaining([hostname().toLowerCase(), "127.0.0.1", "0.0.0.0"]));
});

describe("listen", () => {
  const app = (handler: () => Promise<Response> | Response): Hono => {
    const made = new Hono();
    made.get("/", handler);
    return made;
  };

  test("[UP-4-1] a taken port and a host that is not ours say what to do", async () => {
    const first = await listen({ app: app(() => new Response("")), host: "127.0.0.1", port: 0 });
    const port = Number(first.address.split(":")[1]);
    await expect(listen({ app: new Hono(), host: "127.0.0.1", port })).rejects.toMatchObject({
      code: "conflict",
      message: `port ${port} of 127.0.0.1 is taken by another program`,
    });
    await expect(listen({ app: new Hono(), host: "192.0.2.1", port: 0 })).rejects.toMatchObject({
      code: "bad_request",
    });
    await first.close(1_000);
  });

  test("[SEC-memory-pipeline] a connection with many requests at once is closed, and few of them are worked on", async () => {
    const answers: ((answer: Response) => void)[] = [];
    const held = app(() => new Promise<Response>((resolve) => answers.push(resolve)));
    held.get("/quick", () => new Response("quick"));
    const server = await listen({ app: held, host: "127.0.0.1", port: 0 });
    const port = Number(server.address.split(":")[1]);
    const ask = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const few = connect(port, "127.0.0.1");
    few.write(ask.repeat(8));
    await expect.poll(() => answers.length).toBe(8);
    const many = connect(port, "127.0.0.1");
    many.on("error", () => {});
    const closed = once(many, "close");
    many.write(ask.repeat(400));
    await closed;
    expect(answers.length).toBeLessThanOrEqual(16);
    let said = "";
    few.on("data", (bytes) => {
      said += String(bytes);
    });
    for (const answer of answers) answer(new Response("late"));
    await expect.poll(() => said.split("late").length).toBe(9);
    // Answered ones do not count.
    few.write("GET /quick HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await expect.poll(() => said).toContain("quick");
    few.destroy();
    await server.close(1_000);
  });

  test("[SEC-memory-idle] silent connections of one address are bounded: a new one closes the oldest, and none with a request", async () => {
    const answer = Promise.withResolvers<Response>();
    const asked = Promise.withResolvers<void>();
    const slow = app(() => {
      asked.resolve();
      return answer.promise;
    });
    slow.get("/quick", () => new Response("quick"));
    let clock = 0;
    const server = await listen({ app: slow, host: "127.0.0.1", port: 0, idlePerAddress: 2, now: () => clock });
    const open = async () => {
      const socket = connect(Number(server.address.split(":")[1]), "127.0.0.1");
      const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
      socket.on("error", () => {});
      await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
      return { socket, closed };
    };
    const busy = await open();
    busy.socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await asked.promise;
    const [first, second, third] = [await open(), await open(), await open()];
    // A moment ago they were opened: each may have a request on the way, as the first has.
    first.socket.write("GET /quick HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const [answered] = (await once(first.socket, "data")) as [Buffer];
    expect(answered.toString()).toContain("quick");
    expect([first, second, third].map(({ socket }) => socket.destroyed)).toEqual([false, false, false]);
    clock = 2_000;
    answer.resolve(new Response("done"));
    // One more is idle, and the two that never asked for anything are closed.
    await Promise.all([second.closed, third.closed]);
    expect([busy, first].map(({ socket }) => socket.destroyed)).toEqual([false, false]);
    // Those that had requests are kept for longer, and not for ever.
    clock = 10_000;
    const last = await open();
    await first.closed;
    expect([busy, last].map(({ socket }) => socket.destroyed)).toEqual([false, false]);
    for (const { socket } of [busy, last]) socket.destroy();
    await server.close(1_000);
  });

  test("[SEC-memory-idle] one address that asks for something now and then on each connection does not take all of them", async () => {
    const made = app(() => new Response("work"));
    const limits = { maxConnections: 12, reservedConnections: 2, idlePerAddress: 3, now: () => 0 };
    const server = await listen({ app: made, host: "127.0.0.1", port: 0, ...limits });
    const sockets: Socket[] = [];
    for (let one = 0; one < 20; one++) {
      const socket = connect(Number(server.address.split(":")[1]), "127.0.0.1");
      socket.on("error", () => {});
      socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
      const [answer] = (await once(socket, "data")) as [Buffer];
      expect(answer.toString()).toContain("200 OK");
      sockets.push(socket);
    }
    for (const socket of sockets) socket.destroy();
    await server.close(1_000);
  });

  test("[LIM-door-2] the last connections are kept for /health and /live, and the others are told to come back", async () => {
    const made = app(() => new Response("work"));
    made.get("/live", () => new Response("alive"));
    const limits = { maxConnections: 3, reservedConnections: 1 };
    const server = await listen({ app: made, host: "127.0.0.1", port: 0, ...limits });
    const port = Number(server.address.split(":")[1]);
    const open = async () => {
      const socket = connect(port, "127.0.0.1");
      await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
      return socket;
    };
    const ask = (socket: Awaited<ReturnType<typeof open>>, path: string): Promise<string> => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      return new Promise((resolve) => socket.once("data", (piece) => resolve(piece.toString())));
    };
    const first = await open();
    const second = await open();
    expect(await ask(first, "/")).toContain("200 OK");
    expect(await ask(second, "/")).toContain("200 OK");
    const third = await open();
    expect(await ask(third, "/live")).toContain("200 OK");
    const refused = await ask(second, "/");
    expect(refused).toContain("429 Too Many Requests");
    expect(refused.toLowerCase()).toContain("connection: close");
    for (const socket of [first, third]) socket.destroy();
    await server.close(1_000);
  });

  test("[UP-stop-reader] a reader that is slow gets its whole answer while the server closes", async () => {
    const size = 48 * 1024 * 1024;
    const written = Promise.withResolvers<void>();
    const fetch = (_request: Request, { outgoing }: { outgoing: ServerResponse }): Response => {
      outgoing.once("prefinish", written.resolve);
      return new Response("x".repeat(size));
    };
    const server = await listen({ app: { fetch } as unknown as Hono, host: "127.0.0.1", port: 0 });
    const socket = connect(Number(server.address.split(":")[1]), "127.0.0.1");
    let received = 0;
    socket.on("data", (piece) => {
      received += piece.byteLength;
    });
    const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await new Promise<void>((resolve) => socket.once("data", () => resolve()));
    socket.pause();
    await written.promise;
    const closed = server.close(60_000);
    socket.resume();
    await Promise.all([closed, ended]);
    expect(received).toBeGreaterThanOrEqual(size);
  });

  /** A server whose one request is answered when told to. */
  const listenHeld = async () => {
    let answer = (): void => {};
    let asked = (): void => {};
    const arrived = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const handler = (): Promise<Response> =>
      new Promise((resolve) => {
        answer = () => resolve(new Response("done"));
        asked();
      });
    const server = await listen({ app: app(handler), host: "127.0.0.1", port: 0 });
    const outcome = fetch(`http://${server.address}/`).then(
      (response) => response.text(),
      () => "cut off",
    );
    await arrived;
    return { server, outcome, answer: () => answer() };
  };

  test("closing waits for the request under way", async () => {
    const { server, outcome, answer } = await listenHeld();
    const closed = server.close(60_000);
    answer();
    expect(await outcome).toBe("done");
    await closed;
  });

  test("one that does not end is cut off when the grace is over", async () => {
    const { server, outcome } = await listenHeld();
    await server.close(20);
    expect(await outcome).toBe("cut off");
  });
});
