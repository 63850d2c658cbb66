// Commands to payload-style services: the older version of the protocol, where identity stands in the payload (v1r3). These
// services subscribe to their subject and know no stream, so their commands are core messages.
//   PC1. A command that no service listens to was not sent: the error's reason is `unheard`, and its publisher tries again later.
//        The server refuses such a message before it answers the ping that follows, so the answer to the ping shows that a
//        service got it.
//   PC2. The same message id again is sent once, as long as this process remembers it (B3).

import { isRecord, isToolplaneError, parseJsonStrict, tryParseSubject } from "@toolplane/protocol";
import { LEGACY_VERSION, lowerCommand } from "@toolplane/protocol/v1r3";
import type { BusMessage } from "../bus.ts";
import { nobodyListens, type Requests, unavailable } from "./requests.ts";
import type { EncodedMessage } from "./wire-message.ts";

export interface PayloadCommands {
  /** False: it was sent before. */
  send(command: {
    readonly subject: string;
    readonly messageId: string | undefined;
    readonly encoded: EncodedMessage;
  }): Promise<boolean>;
}

export interface PayloadCommandsDeps {
  readonly requests: Pick<Requests, "ask">;
  /** Resolves when the server has read what was sent before. */
  readonly flush: () => Promise<void>;
}

/** No program received the command. */
const UNHEARD = "unheard";

/** A server answers a ping in milliseconds. */
const CONFIRM_MS = 5_000;
/** Far more than one relay publishes between a crash and its next attempt. */
const MOST_REMEMBERED = 4_096;

const isPayloadStyle = (subject: string): boolean => tryParseSubject(subject)?.version === LEGACY_VERSION;

/** The message as its receiver reads it; undefined for a message of the current version. */
export const lowerMessage = (message: BusMessage): BusMessage | undefined => {
  if (!isPayloadStyle(message.subject)) return undefined;
  const payload = parseJsonStrict(message.payload);
  const lowered = lowerCommand({ headers: message.headers, payload: isRecord(payload) ? payload : {} });
  return { ...message, headers: lowered.headers, payload: JSON.stringify(lowered.payload) };
};

/** It concerns this command alone: the bus carries the others. */
const explain = (error: unknown, subject: string): unknown => {
  if (nobodyListens(error)) return unavailable(`no service listens on ${subject}`, UNHEARD, error);
  if (!isToolplaneError(error) || error.code !== "auth_failed") return error;
  return unavailable(`this NATS user may not publish on ${subject}; see deploy/nats`, UNHEARD, error);
};

export const createPayloadCommands = ({ requests, flush }: PayloadCommandsDeps): PayloadCommands => {
  const sent = new Set<string>();

  const remember = (messageId: string | undefined): void => {
    if (messageId === undefined) return;
    sent.add(messageId);
    const [oldest] = sent;
    if (sent.size > MOST_REMEMBERED && oldest !== undefined) sent.delete(oldest);
  };

  return {
    async send({ subject, messageId, encoded: { payload, headers } }) {
      if (messageId !== undefined && sent.has(messageId)) return false;
      const delivered = new AbortController();
      const asked = requests.ask(subject, payload, { timeoutMs: CONFIRM_MS, headers, signal: delivered.signal });
      try {
        await Promise.race([asked, flush()]);
      } catch (error) {
        throw explain(error, subject);
      } finally {
        // No answer is awaited; giving up the question is not a failure.
        asked.catch(() => {});
        delivered.abort();
      }
      remember(messageId);
      return true;
    },
  };
};
