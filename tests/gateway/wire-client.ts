// A NATS client of nothing but the wire: it says whatever a test wants said, and reports every word of the server. After
// PING the server's PONG comes behind everything it had to say about what was sent before, so a refusal is never waited
// for: it is there with the PONG, or there is none.

import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { UsageError } from "@toolplane/protocol";

export interface WireMessage {
  readonly subject: string;
  readonly reply: string | undefined;
  /** What the server says itself instead of a message: 404, 408, 409, 503. */
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: string;
}

export interface Saying {
  readonly reply?: string | undefined;
  /** As a map, or as the very bytes between the first line and the blank one. */
  readonly headers?: Readonly<Record<string, string>> | string | undefined;
}

export interface WireClient extends AsyncDisposable {
  /** The inbox its requests are answered in, without the last token. */
  readonly inbox: string;
  /** Any bytes at all. */
  say(text: string): void;
  publish(subject: string, payload?: string | Uint8Array, saying?: Saying): void;
  /** Everything that arrives there from now on. */
  subscribe(subject: string): readonly WireMessage[];
  /** What the server objected to since the last time. */
  flush(): Promise<readonly string[]>;
  /** The first answer; rejects when the server objects instead. */
  request(subject: string, payload?: string | Uint8Array, saying?: Saying): Promise<WireMessage>;
  /** What the server said before it hung up; resolves when it has. */
  readonly closed: Promise<readonly string[]>;
}

export interface WireUser {
  readonly port: number;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly inboxPrefix?: string | undefined;
}

const parseHeaders = (block: string): Pick<WireMessage, "status" | "headers"> => {
  const [first = "", ...lines] = block.split("\r\n");
  const status = Number.parseInt(first.slice("NATS/1.0 ".length), 10);
  const pairs = lines.filter(Boolean).map((line) => {
    const at = line.indexOf(":");
    return [line.slice(0, at), line.slice(at + 1).trim()] as const;
  });
  return { status: Number.isNaN(status) ? undefined : status, headers: Object.fromEntries(pairs) };
};

const headerBlock = (headers: NonNullable<Saying["headers"]>): string => {
  const lines =
    typeof headers === "string"
      ? headers
      : Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join("");
  return `NATS/1.0\r\n${lines}\r\n`;
};

export const connectWire = async (at: WireUser): Promise<WireClient> => {
  const socket = connect(at.port, "127.0.0.1").setNoDelay(true);
  const inbox = `${at.inboxPrefix ?? "_INBOX"}.${randomBytes(8).toString("hex")}`;
  const listeners = new Map<string, (message: WireMessage) => void>();
  const pongs: (() => void)[] = [];
  const waiting = new Map<string, { resolve(message: WireMessage): void; reject(error: Error): void }>();
  let errors: string[] = [];
  let buffer: Buffer = Buffer.alloc(0);
  let sids = 0;

  const onLine = (line: string, rest: Buffer): number => {
    if (line.startsWith("PING")) socket.write("PONG\r\n");
    else if (line.startsWith("PONG")) pongs.shift()?.();
    else if (line.startsWith("-ERR")) {
      errors.push(line.slice("-ERR ".length).replaceAll("'", ""));
      for (const { reject } of waiting.values()) reject(new UsageError(`the server objects: ${line}`));
    } else if (line.startsWith("MSG ") || line.startsWith("HMSG ")) {
      const words = line.split(" ");
      const hasHeaders = words[0] === "HMSG";
      const size = Number(words.at(-1));
      if (rest.length < size + 2) return -1;
      const headerSize = hasHeaders ? Number(words.at(-2)) : 0;
      const reply = words.length === (hasHeaders ? 6 : 5) ? words[3] : undefined;
      listeners.get(words[2] ?? "")?.({
        subject: words[1] ?? "",
        reply,
        ...parseHeaders(rest.subarray(0, headerSize).toString("latin1")),
        payload: rest.subarray(headerSize, size).toString(),
      });
      return size + 2;
    }
    return 0;
  };

  socket.on("data", (chunk: Buffer) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      const end = buffer.indexOf("\r\n");
      if (end < 0) return;
      const taken = onLine(buffer.subarray(0, end).toString("latin1"), buffer.subarray(end + 2));
      if (taken < 0) return;
      buffer = buffer.subarray(end + 2 + taken);
    }
  });
  socket.on("error", () => {});
  const ended = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
  });
  const closed = ended.then(() => {
    for (const { reject } of waiting.values()) reject(new UsageError(`the server hung up: ${errors.join("; ")}`));
    for (const pong of pongs.splice(0)) pong();
    return errors;
  });

  const login = at.user === undefined ? {} : { user: at.user, pass: at.password };
  socket.write(
    `CONNECT ${JSON.stringify({ verbose: false, pedantic: false, headers: true, no_responders: true, ...login })}\r\n`,
  );

  const publish: WireClient["publish"] = (subject, payload = "", { reply, headers } = {}) => {
    const head = headers === undefined ? "" : headerBlock(headers);
    const body = Buffer.from(payload as string);
    const sizes = headers === undefined ? `${body.length}` : `${head.length} ${head.length + body.length}`;
    const to = reply === undefined ? subject : `${subject} ${reply}`;
    socket.write(`${headers === undefined ? "PUB" : "HPUB"} ${to} ${sizes}\r\n`);
    socket.write(Buffer.concat([Buffer.from(head, "latin1"), body, Buffer.from("\r\n")]));
  };
  const listen = (subject: string, onMessage: (message: WireMessage) => void): void => {
    const sid = String(++sids);
    listeners.set(sid, onMessage);
    socket.write(`SUB ${subject} ${sid}\r\n`);
  };

  let isListening = false;
  return {
    inbox,
    say: (text) => void socket.write(text),
    publish,
    subscribe(subject) {
      const messages: WireMessage[] = [];
      listen(subject, (message) => messages.push(message));
      return messages;
    },
    flush: () =>
      new Promise((resolve) => {
        pongs.push(() => resolve(errors.splice(0)));
        socket.write("PING\r\n");
      }),
    request(subject, payload, saying = {}) {
      if (!isListening) listen(`${inbox}.*`, (message) => waiting.get(message.subject)?.resolve(message));
      isListening = true;
      const reply = `${inbox}.${randomBytes(8).toString("hex")}`;
      const answer = new Promise<WireMessage>((resolve, reject) => waiting.set(reply, { resolve, reject }));
      publish(subject, payload, { ...saying, reply });
      return answer.finally(() => waiting.delete(reply));
    },
    closed,
    async [Symbol.asyncDispose]() {
      socket.destroy();
      await closed;
      errors = [];
    },
  };
};
