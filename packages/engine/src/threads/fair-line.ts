// Which task is next when tenants share a few threads. Pure bookkeeping.
//   FL1. Tenants take turns: a tenant that sends a hundred tasks delays another by one of them, not by a hundred.
//   FL2. A tenant has at most `maxRunning` tasks running, so with more threads than that, one is left for others.
//   FL3. A tenant's line is bounded; a task that does not fit is refused at once.

export interface FairLineOptions {
  readonly maxWaiting: number;
  readonly maxRunning: number;
}

export interface FairLine<Item> {
  /** False when the tenant's line is full. */
  push(tenant: string, item: Item): boolean;
  /** The next item that may run; it counts as running until `done`. */
  take(): { readonly tenant: string; readonly item: Item } | undefined;
  done(tenant: string): void;
  /** Everything that waits, taken out. */
  drain(): readonly Item[];
  readonly waiting: number;
}

interface Tenant<Item> {
  readonly items: Item[];
  running: number;
}

export const createFairLine = <Item>({ maxWaiting, maxRunning }: FairLineOptions): FairLine<Item> => {
  // A Map lists its keys in order of insertion: after its turn a tenant is put back at the end.
  const tenants = new Map<string, Tenant<Item>>();
  let waiting = 0;

  return {
    push(tenant, item) {
      const known = tenants.get(tenant) ?? { items: [], running: 0 };
      if (known.items.length >= maxWaiting) return false;
      known.items.push(item);
      tenants.set(tenant, known);
      waiting++;
      return true;
    },
    take() {
      for (const [tenant, known] of tenants) {
        if (known.running >= maxRunning || known.items.length === 0) continue;
        const item = known.items.shift() as Item;
        known.running++;
        waiting--;
        tenants.delete(tenant);
        tenants.set(tenant, known);
        return { tenant, item };
      }
      return undefined;
    },
    done(tenant) {
      const known = tenants.get(tenant);
      if (known === undefined) return;
      known.running--;
      if (known.running === 0 && known.items.length === 0) tenants.delete(tenant);
    },
    drain() {
      const left = [...tenants.values()].flatMap(({ items }) => items.splice(0));
      waiting = 0;
      return left;
    },
    get waiting() {
      return waiting;
    },
  };
};
