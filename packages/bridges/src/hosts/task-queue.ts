// Calls that wait, first come first served; a call whose process died goes to the front. Taking one is constant time: the front
// moves, and the array is cut only from time to time.

export interface TaskQueue<Item> {
  readonly length: number;
  push(item: Item): void;
  pushFront(item: Item): void;
  shift(): Item | undefined;
  remove(item: Item): boolean;
  /** Empties it. */
  takeAll(): readonly Item[];
  list(): readonly Item[];
}

/** Cutting costs as much as the rest is long, so it is done when most of the array is used up. */
const CUT_AFTER = 1_024;

export const createTaskQueue = <Item>(): TaskQueue<Item> => {
  let items: (Item | undefined)[] = [];
  let first = 0;
  const rest = (): Item[] => items.slice(first) as Item[];
  return {
    get length() {
      return items.length - first;
    },
    push: (item) => {
      items.push(item);
    },
    pushFront: (item) => {
      if (first > 0) {
        first -= 1;
        items[first] = item;
      } else {
        items.unshift(item);
      }
    },
    shift: () => {
      if (first === items.length) return undefined;
      const item = items[first];
      // The array lives long and the call is short: the array must not keep a reference to it.
      items[first] = undefined;
      first += 1;
      if (first === items.length || (first > CUT_AFTER && first * 2 > items.length)) {
        items = rest();
        first = 0;
      }
      return item;
    },
    remove: (item) => {
      const index = items.indexOf(item, first);
      if (index < 0) return false;
      items.splice(index, 1);
      return true;
    },
    takeAll: () => {
      const all = rest();
      items = [];
      first = 0;
      return all;
    },
    list: rest,
  };
};
