// Requests over one connection: one inbox, a number per request. Unlike the client library's own requests these
//   - fail at once when the connection is lost, instead of after their timeout;
//   - survive an answer whose headers cannot be read (an exception in a callback would end the library's reader).

import type { Msg, MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import { ToolplaneError } from "@toolplane/protocol";

export interface Asking {
  readonly timeoutMs: number;
  readonly headers?: MsgHdrs | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Telling {
  readonly headers?: MsgHdrs | undefined;
  readonly unheard: () => void;
}

/** The server says at once that no client listens: more than these are not in doubt at a time. */
const MOST_TOLD = 1_024;

export interface Requests {
  /** Throws `upstream_unavailable` when there is no connection, no listener, or no answer in time. */
  ask(subject: string, payload: Uint8Array | string, asking: Asking): Promise<Msg>;
  /** Sends a message that is not answered; `unheard` is called when the server says that no client listens on the subject. */
  tell(subject: string, payload: Uint8Array | string, telling: Telling): void;
  /** The connection is gone: open requests get no answer. */
  lose(): void;
  /** The server does not let this user publish there. */
  refuse(subject: string): void;
}

interface Waiting {
  readonly subject: string;
  readonly resolve: (message: Msg) => void;
  readonly reject: (error: ToolplaneError) => void;
}

/** The subject has no listener: no stream captures it, and no consumer or service of that name exists. */
const NOBODY_LISTENS = "nobody_listens";

export const unavailable = (message: string, reason: string, cause?: unknown): ToolplaneError =>
  new ToolplaneError("upstream_unavailable", message, { detail: { reason }, cause });

export const connectionLost = (): ToolplaneError => unavailable("there is no connection to NATS", "disconnected");

export const nobodyListens = (error: unknown): boolean =>
  error instanceof ToolplaneError && error.detail?.reason === NOBODY_LISTENS;

const isNobody = (message: Msg): boolean => {
  if (message.data.length > 0) return false;
  try {
    return message.headers?.code === 503;
  } catch {
    return false;
  }
};

export interface RequestsDeps {
  readonly nc: Pick<NatsConnection, "publish" | "subscribe">;
  readonly inbox: string;
  readonly connected: () => boolean;
}

export const createRequests = ({ nc, inbox, connected }: RequestsDeps): Requests => {
  const waiting = new Map<string, Waiting>();
  /** Messages of which the server may still say that they are unheard, the oldest first. */
  const told = new Map<string, () => void>();
  let count = 0;

  nc.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      // An error here is a missing permission; the opener of the connection checks for it.
      if (error !== null) return;
      const token = message.subject.slice(inbox.length + 1);
      const asked = waiting.get(token);
      if (asked === undefined) {
        const unheard = told.get(token);
        told.delete(token);
        if (unheard !== undefined && isNobody(message)) unheard();
        return;
      }
      if (isNobody(message)) asked.reject(unavailable("no process listens on this NATS subject", NOBODY_LISTENS));
      else asked.resolve(message);
    },
  });

  const rejectAll = (error: ToolplaneError, matches: (asked: Waiting) => boolean): void => {
    for (const asked of [...waiting.values()]) if (matches(asked)) asked.reject(error);
  };

  return {
    ask(subject, payload, { timeoutMs, headers, signal }) {
      return new Promise<Msg>((resolve, reject) => {
        if (!connected()) return reject(connectionLost());
        if (signal?.aborted) return reject(new ToolplaneError("canceled", "the request was given up"));
        const token = (count++).toString(36);
        const end = (): void => {
          waiting.delete(token);
          clearTimeout(timer);
          signal?.removeEventListener("abort", giveUp);
        };
        const fail = (error: ToolplaneError): void => {
          end();
          reject(error);
        };
        const giveUp = (): void => fail(new ToolplaneError("canceled", "the request was given up"));
        const timer = setTimeout(() => fail(unavailable("NATS did not answer in time", "timeout")), timeoutMs);
        signal?.addEventListener("abort", giveUp, { once: true });
        waiting.set(token, {
          subject,
          resolve: (message) => {
            end();
            resolve(message);
          },
          reject: fail,
        });
        try {
          nc.publish(subject, payload, { reply: `${inbox}.${token}`, ...(headers === undefined ? {} : { headers }) });
        } catch (cause) {
          fail(unavailable("NATS did not take the message", "refused", cause));
        }
      });
    },
    tell(subject, payload, { headers, unheard }) {
      const token = (count++).toString(36);
      told.set(token, unheard);
      const [oldest] = told.keys();
      if (told.size > MOST_TOLD && oldest !== undefined) told.delete(oldest);
      nc.publish(subject, payload, { reply: `${inbox}.${token}`, ...(headers === undefined ? {} : { headers }) });
    },
    lose: () => rejectAll(connectionLost(), () => true),
    refuse: (subject) =>
      rejectAll(
        new ToolplaneError("auth_failed", "this NATS user may not publish there; see its permissions on the server", {
          detail: { subject },
        }),
        (asked) => asked.subject === subject,
      ),
  };
};
