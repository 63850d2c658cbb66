// The stream items that wait for one reader, bounded in number and in size: beyond that the oldest are dropped. Stream items may
// be lost anyway; without the bound a thousand large ones would hold a gigabyte for a reader that does not read.

export interface StreamItem {
  readonly subject: string;
  readonly payload: string;
}

export interface WaitingItems {
  push(item: StreamItem): void;
  takeAll(): readonly StreamItem[];
  /** How many were dropped since this was last asked. */
  takeDropped(): number;
  isEmpty(): boolean;
}

const MAX_ITEMS = 1_000;
const MAX_CHARS = 1024 * 1024;

export const createWaitingItems = (): WaitingItems => {
  let items: StreamItem[] = [];
  let chars = 0;
  let dropped = 0;
  return {
    push(item) {
      items.push(item);
      chars += item.payload.length;
      while (items.length > MAX_ITEMS || chars > MAX_CHARS) {
        chars -= items.shift()?.payload.length ?? 0;
        dropped += 1;
      }
    },
    takeAll() {
      const taken = items;
      items = [];
      chars = 0;
      return taken;
    },
    takeDropped() {
      const lost = dropped;
      dropped = 0;
      return lost;
    },
    isEmpty: () => items.length === 0,
  };
};
