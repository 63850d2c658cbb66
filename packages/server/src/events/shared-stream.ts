// The stream items of a project for many readers: one subscription of the bus for all readers of a project, and an item is read once.
// The first reader of a project opens the subscription, the last one closes it. A reader gets what comes after it has come.

import type { Engine } from "@toolplane/engine";
import { PROTOCOL_VERSION, parseToken, tryParseJsonStrict } from "@toolplane/protocol";
import type { StreamItem } from "../http/waiting-items.ts";

export type ItemHandler = (item: StreamItem) => void;

export interface SharedStream {
  /** Resolves when items arrive; the answer ends it. */
  listen(projectId: string, handler: ItemHandler): Promise<() => void>;
}

interface Subscription {
  readonly handlers: Set<ItemHandler>;
  readonly opened: Promise<() => void>;
}

export const createSharedStream = (bus: Pick<Engine["bus"], "subscribeStream">): SharedStream => {
  const subscriptions = new Map<string, Subscription>();

  const open = (projectId: string): Subscription => {
    const handlers = new Set<ItemHandler>();
    const subject = `cg.${PROTOCOL_VERSION}.${parseToken(projectId, "project")}.*.str.*.*.>`;
    const opened = bus.subscribeStream(subject, (item) => {
      for (const handler of handlers) handler(item);
    });
    const subscription = { handlers, opened };
    subscriptions.set(projectId, subscription);
    return subscription;
  };

  return {
    async listen(projectId, handler) {
      const subscription = subscriptions.get(projectId) ?? open(projectId);
      const { handlers, opened } = subscription;
      const leave = (): void => {
        handlers.delete(handler);
        if (handlers.size > 0) return;
        if (subscriptions.get(projectId) === subscription) subscriptions.delete(projectId);
        opened.then(
          (stop) => stop(),
          () => undefined,
        );
      };
      handlers.add(handler);
      await opened.catch((error: unknown) => {
        leave();
        throw error;
      });
      return leave;
    },
  };
};

export interface LiveEvent {
  readonly subject: string;
  readonly payload: unknown;
}

const read = new WeakMap<StreamItem, LiveEvent | undefined>();

/** Undefined: on NATS any permitted user publishes stream items; one that cannot be read is dropped, as any item may be. */
export const readItem = (item: StreamItem): LiveEvent | undefined => {
  if (read.has(item)) return read.get(item);
  const payload = tryParseJsonStrict(item.payload);
  const event = payload === undefined ? undefined : { subject: item.subject, payload };
  read.set(item, event);
  return event;
};
