// Says to the plane which target a service serves, and learns the durable of its commands. The plane makes the durable when a service
// attaches, and drops it when no service has attached for long. So a service attaches before its first question, after NATS was away,
// after a failure, and from time to time.

import type { NatsLink } from "@toolplane/bus/nats";
import { isFilled, isRecord, ToolplaneError } from "@toolplane/protocol";
import type { AskGateway } from "../gateway/wire-gateway.ts";
import type { Clock } from "../ports/clock.ts";

export interface AttachDeps {
  readonly link: Pick<NatsLink, "onReconnect">;
  readonly ask: AskGateway;
  readonly clock: Clock;
  /** The service waits for calls at the gateway, and fetches no commands. */
  readonly waits?: boolean | undefined;
}

export interface Attach {
  /** Asked of the plane only when it is time to; resolves to the durable. */
  attach(target: string, signal?: AbortSignal): Promise<string>;
  /** The durable may be gone. */
  forget(target: string): void;
}

/** A small part of the day after which the plane drops a durable. */
const ATTACH_AGAIN_MS = 5 * 60 * 1000;

interface Attached {
  readonly durable: string;
  readonly at: number;
}

export const createAttach = ({ link, ask, clock, waits }: AttachDeps): Attach => {
  const attached = new Map<string, Attached>();
  // A server that comes back may have lost everything. This listener lives as long as the link.
  link.onReconnect(() => attached.clear());
  return {
    async attach(target, signal) {
      const known = attached.get(target);
      if (known !== undefined && clock.now() - known.at < ATTACH_AGAIN_MS) return known.durable;
      const said = waits === true ? { target, waits } : { target };
      const { body } = await ask({ operation: "attach", body: said, signal });
      const durable = isRecord(body) ? body.durable : undefined;
      if (!isFilled(durable))
        throw new ToolplaneError("upstream_unavailable", "the plane's answer to attach names no durable");
      attached.set(target, { durable, at: clock.now() });
      return durable;
    },
    forget: (target) => void attached.delete(target),
  };
};
