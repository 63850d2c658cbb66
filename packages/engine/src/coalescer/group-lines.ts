// The items that wait for a flush, in a line for each group.
//   TL1. Groups take turns, one item each: thirty thousand items of one group delay an item of another by as many as there are groups.
//   TL2. Each group keeps its order. An item that is not ready stays in its place and lets those behind it pass.
//   TL3. While one group waits alone, its line is one list that is read from the front; it pays nothing for the turns.

interface Line<Item> {
  items: Item[];
  /** How many were looked at in this drain. */
  at: number;
  /** Those of them that are not ready. */
  held: Item[] | undefined;
}

export interface GroupLines<Item> {
  push(group: string, item: Item): void;
  /** Takes ready items in turn until `take` refuses one; that one has the first turn of the next drain. */
  drain(isReady: (item: Item) => boolean, take: (item: Item) => boolean): void;
  readonly waiting: number;
}

export const createGroupLines = <Item>(): GroupLines<Item> => {
  // A Map lists its keys in order of insertion: after its turn a group is put back at the end, and a loop over the Map meets it again.
  const lines = new Map<string, Line<Item>>();
  let waiting = 0;

  const toNextReady = (line: Line<Item>, isReady: (item: Item) => boolean): boolean => {
    for (; line.at < line.items.length; line.at++) {
      const item = line.items[line.at] as Item;
      if (isReady(item)) return true;
      if (line.held === undefined) line.held = [item];
      else line.held.push(item);
    }
    return false;
  };

  const closeUp = (line: Line<Item>): void => {
    const rest = line.at < line.items.length ? line.items.slice(line.at) : [];
    line.items = line.held === undefined ? rest : line.held.concat(rest);
    line.at = 0;
    line.held = undefined;
  };

  return {
    push(group, item) {
      waiting++;
      const line = lines.get(group);
      if (line === undefined) lines.set(group, { items: [item], at: 0, held: undefined });
      else line.items.push(item);
    },
    drain(isReady, take) {
      let aside: [string, Line<Item>][] | undefined;
      let isFull = false;
      for (const [group, line] of lines) {
        do {
          if (!toNextReady(line, isReady)) break;
          isFull = !take(line.items[line.at] as Item);
          if (isFull) break;
          line.at++;
          waiting--;
        } while (lines.size === 1);
        // A line that is alone keeps its place, also when it is empty.
        if (isFull || lines.size === 1) break;
        lines.delete(group);
        if (line.at < line.items.length) lines.set(group, line);
        else if (line.held !== undefined) {
          aside ??= [];
          aside.push([group, line]);
        }
      }
      if (aside !== undefined) for (const [group, line] of aside) lines.set(group, line);
      for (const line of lines.values()) if (line.at > 0) closeUp(line);
    },
    get waiting() {
      return waiting;
    },
  };
};
