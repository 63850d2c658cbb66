// The synchronous match: a call that is dispatched where a service already waits for its target is written as leased to that
// service and handed to it, without a doorbell and without a claim. This file knows which services wait; the dispatch's statement decides.
//   HO1. Only a service that rests is matched. A service that is looking for work may find some, and would get more than it asked
//       for.
//   HO2. Within a flush no call overtakes: once a call of a target goes to the queue, the ones after it do too. Across flushes
//        the statement sees to it: it leases nothing while a due call waits for the target. Calls that are pinned to a definition
//        have a line of their own, so a call for a version that no service runs holds up no other call.
//   HO3. A service for which calls are being written waits for them, also when its time is over meanwhile: it gets the calls, or
//        hears that there are none. A caller of `claim` that has gone away gives back what it gets, as ever.

import { EVERY_DEFINITION } from "./served-versions.ts";
import type { LeasedCall } from "./take-calls.ts";

/** In place of a project: the service takes calls of all projects. No project can have this id. */
const EVERY_PROJECT = "*";

export interface Waiting {
  /** Absent: of every project. */
  readonly projectId?: string | undefined;
  readonly target: string;
  readonly holder: string;
  readonly max: number;
  /** The definitions it runs. A call that is not pinned goes to a service that names its definition, else to any. */
  readonly definitions?: readonly string[] | undefined;
  /** Ends the rest. */
  readonly wake: () => void;
}

export interface Seat {
  /** Calls may be handed over until `sleeping` is over; gives what was. */
  rest(sleeping: Promise<void>): Promise<readonly LeasedCall[]>;
  leave(): void;
}

export interface Wanted {
  readonly projectId: string;
  readonly target: string;
  readonly definitionHash: string;
  /** The definition that the service must name; null: none. */
  readonly pin: string | null;
  /** False for a call that has to go through the queue. */
  readonly free: boolean;
}

export interface Reservation {
  /** The holder each call is to be leased to; undefined: it goes to the queue. */
  readonly holders: readonly (string | undefined)[];
  /** In the same order, once, whatever became of the dispatch; undefined: not leased after all. */
  hand(calls: readonly (LeasedCall | undefined)[]): void;
}

export interface Handover {
  sit(waiting: Waiting): Seat;
  reserve(wanted: readonly Wanted[]): Reservation;
}

interface Place {
  readonly waiting: Waiting;
  resting: boolean;
  promised: PromiseWithResolvers<readonly LeasedCall[]> | undefined;
}

/** A place that gets calls in this flush, and how many. */
interface Filling {
  readonly place: Place;
  count: number;
}

const poolOf = (projectId: string | undefined, target: string): string => `${projectId ?? EVERY_PROJECT}/${target}`;

export const createHandover = (): Handover => {
  const pools = new Map<string, Place[]>();

  const names = ({ waiting: { definitions } }: Place, hash: string): boolean =>
    definitions !== undefined && (definitions.includes(hash) || definitions.includes(EVERY_DEFINITION));

  return {
    sit(waiting) {
      const pool = poolOf(waiting.projectId, waiting.target);
      const place: Place = { waiting, resting: false, promised: undefined };
      const places = pools.get(pool) ?? [];
      pools.set(pool, places);
      places.push(place);
      return {
        async rest(sleeping) {
          place.resting = true;
          await sleeping;
          place.resting = false;
          const handed = (await place.promised?.promise) ?? [];
          place.promised = undefined;
          return handed;
        },
        leave() {
          const index = places.indexOf(place);
          if (index >= 0) places.splice(index, 1);
          if (places.length === 0 && pools.get(pool) === places) pools.delete(pool);
        },
      };
    },

    reserve(wanted) {
      const filling = new Map<string, Filling[]>();
      const queued = new Set<string>();
      const match = ({ projectId, target, definitionHash, pin, free }: Wanted): Place | undefined => {
        const key = poolOf(projectId, target);
        const line = `${key} ${pin ?? ""}`;
        if (!free || queued.has(line)) {
          queued.add(line);
          return undefined;
        }
        const open = filling.get(key) ?? [];
        /** A service that already gets calls of this flush and has room, else one that rests. */
        const find = (suits: (place: Place) => boolean): Filling | undefined => {
          const begun = open.find(({ place, count }) => count < place.waiting.max && suits(place));
          if (begun !== undefined) return begun;
          const isNext = (place: Place): boolean => place.resting && place.promised === undefined && suits(place);
          const place = pools.get(key)?.find(isNext) ?? pools.get(poolOf(undefined, target))?.find(isNext);
          if (place === undefined) return undefined;
          place.promised = Promise.withResolvers();
          const begins = { place, count: 0 };
          filling.set(key, [...open, begins]);
          return begins;
        };
        const found = find((place) => names(place, definitionHash)) ?? (pin === null ? find(() => true) : undefined);
        if (found === undefined) {
          queued.add(line);
          return undefined;
        }
        found.count++;
        return found.place;
      };
      const places = pools.size === 0 ? wanted.map(() => undefined) : wanted.map(match);
      return {
        holders: places.map((place) => place?.waiting.holder),
        hand(calls) {
          const handed = new Map<Place, LeasedCall[]>();
          for (const [index, place] of places.entries()) {
            if (place === undefined) continue;
            const call = calls[index];
            handed.set(place, [...(handed.get(place) ?? []), ...(call === undefined ? [] : [call])]);
          }
          for (const [place, leased] of handed) {
            place.promised?.resolve(leased);
            place.waiting.wake();
          }
        },
      };
    },
  };
};
