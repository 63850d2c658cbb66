// The synchronous match: a call that is dispatched where a service already waits for its target is written as leased to that
// service and handed to it, without a doorbell and without a claim. This file knows which services wait; the dispatch's statement decides.
//   HO1. Only a service that rests is matched. A service that is looking for work may find some, and would get more than it asked
//       for.
//   HO2. Within a flush no call overtakes: once a call of a target goes to the queue, the ones after it do too. Across flushes
//        the statement sees to it: it leases nothing while a due call waits for the target. Calls that are pinned to a definition
//        have a line of their own, so a call for a version that no service runs holds up no other call.
//   HO3. A service for which calls are being written waits for them, even when the time of its claim is over: it gets the calls, or
//        hears that there are none. When the caller of `claim` has gone away, its calls are given back.
//   HO4. A service in this process may stand: its place stays when it goes to start what it got, because it comes back at once. Calls that
//        are written for it meanwhile wait for it. Otherwise the next crowd would find no service, go to the queue, and keep all
//        later calls from being handed over (HO2).
//   HO5. On NATS the plane does not see when a service is gone. Such a service gets only calls that may run again, under a short lease that its first
//        heartbeat extends. So a call that is handed to a dead service runs elsewhere when that lease is over.

import { setImmediate as breathe } from "node:timers/promises";
import { createRecent } from "../recent/recent.ts";
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
  /** True for a service on NATS: the plane does not see when it is gone (HO5). */
  readonly unwatched?: boolean | undefined;
  /** Wakes the service from its rest, because calls were handed over to it. */
  readonly wake: () => void;
}

export interface Seat {
  /** How many more calls the service may take; calls that are being written for it are already counted. */
  free(): number;
  /** Calls may be handed over until `sleeping` resolves. Resolves to the calls that were. */
  rest(sleeping: Promise<void>): Promise<readonly LeasedCall[]>;
  /** Runs `find`; no call is handed over to the service meanwhile (HO1). */
  look(find: () => Promise<readonly LeasedCall[]>): Promise<readonly LeasedCall[]>;
  leave(): void;
}

/** A service in this process that comes back after each claim (HO4). */
export interface Standing {
  /** How many calls it can start now. */
  room(): number;
}

export interface Wanted {
  readonly projectId: string;
  readonly target: string;
  readonly definitionHash: string;
  /** The definition that the service must name; null when the call is not pinned. */
  readonly pin: string | null;
  readonly retrySafe: boolean;
  /** False for a call that has to go through the queue. */
  readonly free: boolean;
}

export interface Reservation {
  /** The holder each call is to be leased to; undefined: it goes to the queue. */
  readonly holders: readonly (string | undefined)[];
  /** Whether the holder of this call is a service that the plane cannot see. */
  isUnwatched(index: number): boolean;
  /** In the same order, once, whatever became of the dispatch; undefined: not leased after all. */
  hand(calls: readonly (LeasedCall | undefined)[]): void;
}

export interface Handover {
  /** A service that stands gets its own place again. */
  sit(waiting: Waiting, standing?: Standing): Seat;
  /** Resolves when no standing service of these targets reads the queue: what it reads would keep the calls of a flush from being handed over. */
  calm(wanted: readonly Pick<Wanted, "projectId" | "target">[]): Promise<void>;
  /** The service does not come back: gives what was handed over to it and not taken, when all of it is written. */
  leave(standing: Standing): Promise<readonly LeasedCall[]>;
  reserve(wanted: readonly Wanted[]): Reservation;
  /** A service of this target waits here, or did a moment ago and is about to come back. */
  attends(key: Pick<Wanted, "projectId" | "target">): boolean;
}

interface Place {
  waiting: Waiting;
  readonly room: () => number;
  /** The place stays after a claim (HO4). */
  readonly stands: boolean;
  resting: boolean;
  /** The look of a service that stands. */
  looking: Promise<void> | undefined;
  /** How many calls are being written for the place. */
  taken: number;
  /** One promise for each flush that writes calls for the place. */
  readonly promised: Set<Promise<void>>;
  /** Handed over, and not fetched yet. */
  readonly ready: LeasedCall[];
}

/** How many looks a flush waits for. One is under way, and calls of an earlier flush may cause another. */
const LOOKS_WAITED_FOR = 3;

/**
 * The first lease of a service that the plane cannot see. Its first heartbeat extends the lease. If the service is dead, its call waits until this
 * lease is over.
 */
const UNWATCHED_LEASE_SECONDS = 5;

/** How long the lease of a service is at first. */
export const firstLease = (leaseSeconds: number, unwatched: boolean | undefined): number =>
  unwatched === true ? Math.min(leaseSeconds, UNWATCHED_LEASE_SECONDS) : leaseSeconds;

/** A service that took work comes back within milliseconds. One that stays away for longer than this may be busy, or gone. */
const BACK_WITHIN_MS = 2_000;

/** More targets than one process serves. */
const MAX_REMEMBERED = 1_024;

/** What a flush writes for a place. */
interface Parcel {
  calls: number;
  readonly give: (leased: readonly LeasedCall[]) => void;
}

const poolOf = (projectId: string | undefined, target: string): string => `${projectId ?? EVERY_PROJECT}/${target}`;

export const createHandover = (now: () => number): Handover => {
  const pools = new Map<string, Place[]>();
  /** When the last service of a pool left. */
  const leftAt = createRecent<number>(MAX_REMEMBERED);
  const stays = new Map<Standing, Place>();

  const names = ({ waiting: { definitions } }: Place, hash: string): boolean =>
    definitions !== undefined && (definitions.includes(hash) || definitions.includes(EVERY_DEFINITION));

  const open = (waiting: Waiting, standing: Standing | undefined): Place => {
    const place: Place = {
      waiting,
      room: standing?.room ?? (() => waiting.max),
      stands: standing !== undefined,
      resting: false,
      looking: undefined,
      taken: 0,
      promised: new Set(),
      ready: [],
    };
    const pool = poolOf(waiting.projectId, waiting.target);
    const places = pools.get(pool) ?? [];
    pools.set(pool, places);
    places.push(place);
    return place;
  };

  const keyOf = ({ waiting: { projectId, target } }: Place): string => poolOf(projectId, target);

  const close = (place: Place): void => {
    const places = pools.get(keyOf(place)) ?? [];
    const index = places.indexOf(place);
    if (index >= 0) places.splice(index, 1);
    if (places.length > 0) return;
    pools.delete(keyOf(place));
    leftAt.set(keyOf(place), now());
  };

  const moveToEnd = (place: Place): void => {
    const places = pools.get(keyOf(place)) ?? [];
    places.push(...places.splice(places.indexOf(place), 1));
  };

  const roomOf = (place: Place): number => place.room() - place.taken - place.ready.length;

  const written = async ({ promised, ready }: Place): Promise<readonly LeasedCall[]> => {
    await Promise.all(promised);
    return ready.splice(0);
  };

  const parcelFor = (place: Place): Parcel => {
    const { promise, resolve } = Promise.withResolvers<void>();
    place.promised.add(promise);
    const parcel: Parcel = {
      calls: 0,
      give(leased) {
        place.taken -= parcel.calls;
        place.ready.push(...leased);
        place.promised.delete(promise);
        resolve();
        place.waiting.wake();
      },
    };
    return parcel;
  };

  return {
    sit(waiting, standing) {
      const known = standing && stays.get(standing);
      const place = known ?? open(waiting, standing);
      place.waiting = waiting;
      if (standing !== undefined) stays.set(standing, place);
      return {
        free: () => roomOf(place),
        async rest(sleeping) {
          place.resting = true;
          if (place.ready.length === 0) await sleeping;
          if (place.stands) return place.ready.splice(0);
          place.resting = false;
          return written(place);
        },
        async look(find) {
          place.resting = false;
          const over = Promise.withResolvers<void>();
          if (place.stands) place.looking = over.promise;
          try {
            return await find();
          } finally {
            place.resting = place.stands;
            place.looking = undefined;
            over.resolve();
          }
        },
        leave() {
          if (!place.stands) close(place);
        },
      };
    },

    async calm(wanted) {
      const keys = [...new Set(wanted.map(({ projectId, target }) => poolOf(projectId, target)))];
      for (let waited = 0; waited < LOOKS_WAITED_FOR; waited++) {
        const looks = keys.flatMap((key) => (pools.get(key) ?? []).flatMap(({ looking }) => looking ?? []));
        if (looks.length === 0) return;
        await Promise.all(looks);
        // What the look found is started first, and a service that has to look again begins to.
        await breathe();
      }
    },

    async leave(standing) {
      const place = stays.get(standing);
      if (place === undefined) return [];
      stays.delete(standing);
      close(place);
      return written(place);
    },

    reserve(wanted) {
      const parcels = new Map<Place, Parcel>();
      const queued = new Set<string>();
      const match = ({ projectId, target, definitionHash, pin, free, retrySafe }: Wanted): Place | undefined => {
        const key = poolOf(projectId, target);
        const line = `${key} ${pin ?? ""}`;
        if (!free || queued.has(line)) {
          queued.add(line);
          return undefined;
        }
        /** The first in line with room, so calls of one flush go to as few services as can be. */
        const find = (suits: (place: Place) => boolean): Place | undefined => {
          const isGiven = ({ waiting: { unwatched } }: Place): boolean => retrySafe || unwatched !== true;
          const fits = (place: Place): boolean => place.resting && isGiven(place) && roomOf(place) > 0 && suits(place);
          return pools.get(key)?.find(fits) ?? pools.get(poolOf(undefined, target))?.find(fits);
        };
        const found = find((place) => names(place, definitionHash)) ?? (pin === null ? find(() => true) : undefined);
        if (found === undefined) {
          queued.add(line);
          return undefined;
        }
        const parcel = parcels.get(found) ?? parcelFor(found);
        parcels.set(found, parcel);
        parcel.calls++;
        found.taken++;
        return found;
      };
      const places = pools.size === 0 ? wanted.map(() => undefined) : wanted.map(match);
      // The next flush begins with another service. Those that do not stand leave their place.
      for (const place of parcels.keys()) if (place.stands) moveToEnd(place);
      return {
        holders: places.map((place) => place?.waiting.holder),
        isUnwatched: (index) => places[index]?.waiting.unwatched === true,
        hand(calls) {
          const perPlace = Map.groupBy(calls.keys(), (index) => places[index]);
          for (const [place, parcel] of parcels)
            parcel.give((perPlace.get(place) ?? []).flatMap((index) => calls[index] ?? []));
        },
      };
    },

    attends({ projectId, target }) {
      return [poolOf(projectId, target), poolOf(undefined, target)].some(
        (pool) => pools.has(pool) || now() - (leftAt.get(pool) ?? Number.NEGATIVE_INFINITY) < BACK_WITHIN_MS,
      );
    },
  };
};
