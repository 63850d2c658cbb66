// Just enough of the NATS wire protocol to ask a server something: these tests are about the process, and a client
// library that reconnects by itself would hide what happens to it.

import { connect } from "node:net";

/** Sends one request and returns the first reply's JSON; rejects when nobody answers. */
export const requestNats = (port: number, subject: string, body: unknown): Promise<Record<string, unknown>> =>
  new Promise((resolve, reject) => {
    const payload = typeof body === "string" ? body : JSON.stringify(body);
    const socket = connect(port, "127.0.0.1");
    let text = "";
    const fail = (why: string): void => {
      socket.destroy();
      reject(new RangeError(`${subject}: ${why}`));
    };
    socket.setEncoding("utf8").setTimeout(5000, () => fail("no answer"));
    socket.once("error", (cause) => fail(cause.message));
    socket.once("close", () => fail(`closed after ${text.trim()}`));
    socket.write('CONNECT {"verbose":false,"no_responders":true,"headers":true}\r\nSUB inbox 1\r\n');
    socket.write(`PUB ${subject} inbox ${Buffer.byteLength(payload)}\r\n${payload}\r\n`);
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("HMSG ")) return fail("nobody is responsible");
      const at = text.indexOf("MSG inbox 1 ");
      const headEnd = at < 0 ? -1 : text.indexOf("\r\n", at);
      const end = headEnd < 0 ? -1 : text.indexOf("\r\n", headEnd + 2);
      if (end < 0) return;
      socket.destroy();
      resolve(JSON.parse(text.slice(headEnd + 2, end)) as Record<string, unknown>);
    });
  });
