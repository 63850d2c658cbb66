// Says to the plane which target a service serves, and learns the durable of its commands. The plane makes the durable when a service
// attaches, and drops it when no service has attached for long. So a service attaches before its first question, after NATS was away,
// after a failure, and from time to time. A service that fetches also gives its name: the plane does not see a fetch, and operators ask it which
// services are running.

import type { NatsLink } from "@toolplane/bus/nats";
import { isFilled, isRecord, isToolplaneError, ToolplaneError } from "@toolplane/protocol";
import type { AskGateway } from "../gateway/wire-gateway.ts";
import type { Clock } from "../ports/clock.ts";

export interface AttachDeps {
  readonly link: Pick<NatsLink, "onReconnect">;
  readonly ask: AskGateway;
  readonly clock: Clock;
  /** The service waits for calls at the gateway, and fetches no commands. */
  readonly waits?: boolean | undefined;
  /** Who fetches, as people read it. */
  readonly holder?: string | undefined;
}

export interface Attaching {
  readonly definitions?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Attach {
  /** Asked of the plane only when it is time to; resolves to the durable. */
  attach(target: string, attaching?: Attaching): Promise<string>;
  /** The durable may be gone. */
  forget(target: string): void;
}

/** A small part of the day after which the plane drops a durable. */
const ATTACH_AGAIN_MS = 5 * 60 * 1000;
/** The plane counts a service as gone after a minute of silence, and a fetch lasts up to twenty seconds. */
const GREET_AGAIN_MS = 20_000;

interface Attached {
  readonly durable: string;
  readonly at: number;
}

export const createAttach = ({ link, ask, clock, waits, holder }: AttachDeps): Attach => {
  const attached = new Map<string, Attached>();
  /** An earlier plane does not take the name of a service here. */
  let names = waits !== true && holder !== undefined;

  const say = async (target: string, { definitions, signal }: Attaching): Promise<unknown> => {
    const said = waits === true ? { target, waits } : { target };
    const named = { ...said, holder, ...(definitions === undefined ? {} : { definitions }) };
    try {
      return (await ask({ operation: "attach", body: names ? named : said, signal })).body;
    } catch (thrown) {
      if (!names || !isToolplaneError(thrown) || thrown.code !== "bad_request") throw thrown;
      names = false;
      return (await ask({ operation: "attach", body: said, signal })).body;
    }
  };

  // A server that comes back may have lost everything. This listener lives as long as the link.
  link.onReconnect(() => attached.clear());
  return {
    async attach(target, attaching = {}) {
      const known = attached.get(target);
      const againMs = names ? GREET_AGAIN_MS : ATTACH_AGAIN_MS;
      if (known !== undefined && clock.now() - known.at < againMs) return known.durable;
      const body = await say(target, attaching);
      const durable = isRecord(body) ? body.durable : undefined;
      if (!isFilled(durable))
        throw new ToolplaneError("upstream_unavailable", "the plane's answer to attach names no durable");
      attached.set(target, { durable, at: clock.now() });
      return durable;
    },
    forget: (target) => void attached.delete(target),
  };
};
