// A bare connection for programs that play a part of the protocol by hand: the conformance kit plays the plane on it, and its
// test services play services. It can see and send anything, and gives no guarantees.

import type { Msg } from "@nats-io/transport-node";
import type { HeaderMap } from "@toolplane/protocol";
import type { Log } from "../log.ts";
import { openWire } from "./connection.ts";
import type { NatsOptions } from "./link.ts";
import { encodeHeaders } from "./wire-message.ts";

export interface BareMessage {
  readonly subject: string;
  /** Where an answer, or the settlement of a command, goes. */
  readonly reply: string | undefined;
  readonly headers: HeaderMap;
  readonly payload: string;
  /** What the server says itself instead of a message: 404, 408, 409, 503. */
  readonly status: number | undefined;
}

export interface BarePublish {
  readonly headers?: HeaderMap | undefined;
  readonly reply?: string | undefined;
}

export interface BareNats {
  publish(subject: string, payload: string, options?: BarePublish): void;
  /** Throws `upstream_unavailable` when there is no answer. */
  ask(subject: string, payload: string, options: { headers?: HeaderMap; timeoutMs: number }): Promise<BareMessage>;
  /** Resolves when the server knows, to the way to stop. */
  listen(pattern: string, onMessage: (message: BareMessage) => void): Promise<() => void>;
  close(): Promise<void>;
}

/** The headers with their names unchanged, and the first of several values. Headers that cannot be read count as absent. */
const headersIn = (message: Msg): { readonly headers: HeaderMap; readonly status: number | undefined } => {
  try {
    const { headers } = message;
    const entries = [...(headers ?? [])].map(([name, [value = ""]]) => [name, value] as const);
    return { headers: Object.fromEntries(entries), status: headers?.code === 0 ? undefined : headers?.code };
  } catch {
    return { headers: {}, status: undefined };
  }
};

const text = new TextDecoder();

const asBare = (message: Msg): BareMessage => ({
  subject: message.subject,
  reply: message.reply === "" ? undefined : message.reply,
  ...headersIn(message),
  payload: text.decode(message.data),
});

export const openBareNats = async (options: NatsOptions, { log }: { readonly log: Log }): Promise<BareNats> => {
  const { nc, requests } = await openWire(options, log);
  return {
    publish(subject, payload, { headers, reply } = {}) {
      nc.publish(subject, payload, {
        ...(headers === undefined ? {} : { headers: encodeHeaders(headers) }),
        ...(reply === undefined ? {} : { reply }),
      });
    },
    async ask(subject, payload, { headers, timeoutMs }) {
      const asking = headers === undefined ? { timeoutMs } : { timeoutMs, headers: encodeHeaders(headers) };
      return asBare(await requests.ask(subject, payload, asking));
    },
    async listen(pattern, onMessage) {
      const subscription = nc.subscribe(pattern, {
        callback: (error, message) => {
          if (error === null) onMessage(asBare(message));
        },
      });
      await nc.flush();
      return () => subscription.unsubscribe();
    },
    close: () => nc.close(),
  };
};
