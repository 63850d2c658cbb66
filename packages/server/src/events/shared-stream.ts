// The stream items of a project, or of one subject, for many readers: one subscription of the bus for all of them, and an item is read
// once. The first reader opens the subscription, the last one closes it. A reader gets what comes after it has come.

import type { Engine } from "@toolplane/engine";
import { PROTOCOL_VERSION, parseToken, tryParseJsonStrict } from "@toolplane/protocol";
import type { StreamItem } from "../http/waiting-items.ts";

export type ItemHandler = (item: StreamItem) => void;

export interface SharedStream {
  /** Resolves when items arrive; the answer ends it. */
  listen(source: string, handler: ItemHandler): Promise<() => void>;
}

interface Subscription {
  readonly handlers: Set<ItemHandler>;
  readonly opened: Promise<() => void>;
}

const streamsOfProject = (projectId: string): string =>
  `cg.${PROTOCOL_VERSION}.${parseToken(projectId, "project")}.*.str.*.*.>`;

export const createSharedStream = (
  bus: Pick<Engine["bus"], "subscribeStream">,
  subjectOf: (source: string) => string = streamsOfProject,
): SharedStream => {
  const subscriptions = new Map<string, Subscription>();

  const open = (source: string): Subscription => {
    const handlers = new Set<ItemHandler>();
    const opened = bus.subscribeStream(subjectOf(source), (item) => {
      for (const handler of handlers) handler(item);
    });
    const subscription = { handlers, opened };
    subscriptions.set(source, subscription);
    return subscription;
  };

  return {
    async listen(source, handler) {
      const subscription = subscriptions.get(source) ?? open(source);
      const { handlers, opened } = subscription;
      const leave = (): void => {
        handlers.delete(handler);
        if (handlers.size > 0) return;
        if (subscriptions.get(source) === subscription) subscriptions.delete(source);
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
