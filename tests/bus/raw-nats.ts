// NATS by hand, for what no client library would send: any bytes as headers or payload, any subject the server takes.

import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface RawMessage {
  readonly subject: string;
  readonly reply?: string;
  /** The whole header block, its first line included. */
  readonly headers?: string;
  readonly payload?: Uint8Array | string;
}

export interface RawNats {
  /** Resolves when the server has read it. */
  publish(message: RawMessage): Promise<void>;
  close(): void;
}

const CRLF = Buffer.from("\r\n");

const untilSays = (socket: Socket, word: string): Promise<void> =>
  new Promise((resolve) => {
    let text = "";
    const read = (chunk: Buffer): void => {
      text += chunk.toString("latin1");
      if (!text.includes(word)) return;
      socket.off("data", read);
      resolve();
    };
    socket.on("data", read);
  });

const encode = ({ subject, reply, headers, payload = "" }: RawMessage): Buffer => {
  const body = typeof payload === "string" ? Buffer.from(payload) : Buffer.from(payload);
  const to = reply === undefined ? subject : `${subject} ${reply}`;
  if (headers === undefined) return Buffer.concat([Buffer.from(`PUB ${to} ${body.length}\r\n`), body, CRLF]);
  const head = Buffer.from(headers, "latin1");
  const line = Buffer.from(`HPUB ${to} ${head.length} ${head.length + body.length}\r\n`);
  return Buffer.concat([line, head, body, CRLF]);
};

export const openRawNats = async (port: number): Promise<RawNats> => {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  const say = async (bytes: Buffer | string): Promise<void> => {
    const answered = untilSays(socket, "PONG");
    socket.write(bytes);
    socket.write("PING\r\n");
    await answered;
  };
  await say('CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\n');
  return { publish: (message) => say(encode(message)), close: () => socket.destroy() };
};
