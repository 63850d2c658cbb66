// The intake: which agents are looked at, and when. An agent is rung by a bell, or at the end of its work when a bell came during
// the work. The slow look for due work offers agents without ringing.
//   IN1. Only one scan of an agent runs at a time; any number of rings during it cause one more scan. After a scan that failed there
//       is none: the slow look finds the agent again.
//   IN2. Work is taken only when there is room for it. Without room a ring still applies results, and the agent waits here for a
//       place. An agent whose turn only waits for a place, or that the slow look found, waits without a scan. When the list of waiting
//       agents is full, an agent is left out; the slow look finds it again.
//   IN3. A ring for an agent whose work is held is passed on at once (a stop rings), and the agent is scanned when the work
//       ends: a fast tool may answer before its caller knows that the step was committed.
//   IN4. Nothing is kept about an agent without work.

import type { Advanced, AgentKey, Work } from "@toolplane/engine";

export interface IntakeOptions {
  readonly capacity: number;
  readonly advance: (key: AgentKey, takeWork: boolean) => Promise<Advanced>;
  /** Resolves when the work is over, however it ended; never rejects. */
  readonly perform: (work: Work) => Promise<void>;
  readonly rungWhileHeld: (work: Work) => void;
  readonly scanFailed: (key: AgentKey, error: unknown) => void;
  /** There is room and nothing waits for it. */
  readonly hungry: () => void;
}

export interface IntakeStats {
  readonly held: number;
  readonly dirty: number;
  readonly scanning: number;
  readonly waiting: number;
  readonly scans: number;
  readonly taken: number;
}

export interface Intake {
  ring(key: AgentKey): void;
  /** A bell says that the agent has work, and that no result waits to be applied. So the agent is scanned when there is room. */
  ringForWork(key: AgentKey): void;
  /** The slow look found the agent. It is scanned when there is room; by then another worker may have taken its work. */
  offer(key: AgentKey): void;
  /** Keeps a place for work of this agent that another part is about to take for this worker. A ring for the agent waits until then. */
  reserve(key: AgentKey): Seat | undefined;
  /** Takes no more work; resolves when all work has ended and no scan is under way. */
  close(): Promise<void>;
  room(): number;
  stats(): IntakeStats;
}

/** A reserved place. Its owner calls one of the two functions, once. */
export interface Seat {
  take(work: Work): void;
  drop(): void;
}

/** What came for an agent while it was being scanned or its work was held. */
interface Meanwhile {
  /** A bell rang: the agent is scanned once more. */
  again: boolean;
  /**
   * A bell rang for work: the agent is scanned again when there is room. The scan under way may have read before that work was stored, and the
   * work that is held may be the work before it.
   */
  more: boolean;
}

interface Held extends Meanwhile {
  readonly work: Work;
}

/** The engine joins scans into few statements. Two statements hold this many; more scans at once would only wait in memory. */
const MAX_SCANS = 512;
/** Each entry is the key of an agent, some hundred bytes. */
const MAX_WAITING = 10_000;

export const agentName = ({ projectId, agentId }: AgentKey): string => `${projectId}/${agentId}`;

const takeFirst = (keys: Map<string, AgentKey>): AgentKey | undefined => {
  const [first] = keys;
  if (first === undefined) return undefined;
  keys.delete(first[0]);
  return first[1];
};

export const createIntake = (options: IntakeOptions): Intake => {
  const { capacity, advance, perform } = options;
  const dirty = new Map<string, AgentKey>();
  const waiting = new Map<string, AgentKey>();
  const scanning = new Map<string, Meanwhile>();
  const held = new Map<string, Held>();
  let reserved = 0;
  let scans = 0;
  let taken = 0;
  let closing = false;
  let drained: (() => void) | undefined;

  const room = (): number => (closing ? 0 : capacity - held.size - reserved);
  const isQuiet = (): boolean => held.size === 0 && scanning.size === 0;

  const ring = (key: AgentKey): void => {
    const name = agentName(key);
    const inHand = held.get(name);
    if (inHand !== undefined) {
      inHand.again = true;
      options.rungWhileHeld(inHand.work);
      return;
    }
    if (closing) return;
    const scan = scanning.get(name);
    if (scan !== undefined) scan.again = true;
    else {
      waiting.delete(name);
      dirty.set(name, key);
    }
    pump();
  };

  const offer = (key: AgentKey): void => {
    const name = agentName(key);
    const known = held.has(name) || scanning.has(name) || dirty.has(name) || waiting.has(name);
    if (!closing && !known && waiting.size < MAX_WAITING) waiting.set(name, key);
  };

  const ringForWork = (key: AgentKey): void => {
    const name = agentName(key);
    const busy = held.get(name) ?? scanning.get(name);
    if (busy === undefined) offer(key);
    else busy.more = true;
    pump();
  };

  const goOn = (key: AgentKey, { again, more }: Meanwhile): void => {
    if (again) ring(key);
    else if (more) offer(key);
  };

  const hold = (key: AgentKey, work: Work, again: boolean): void => {
    const name = agentName(key);
    const entry: Held = { work, again, more: false };
    taken++;
    held.set(name, entry);
    const over = perform(work);
    if (again) options.rungWhileHeld(work);
    void over.finally(() => {
      held.delete(name);
      goOn(key, entry);
      pump();
    });
  };

  const settleScan = (key: AgentKey, advanced: Advanced, { again, more }: Meanwhile): void => {
    if (advanced.work !== undefined) hold(key, advanced.work, again);
    else goOn(key, { again, more: more || advanced.workLeft });
  };

  const scan = async (key: AgentKey, takeWork: boolean): Promise<void> => {
    const name = agentName(key);
    const entry = { again: false, more: false };
    scanning.set(name, entry);
    scans++;
    if (takeWork) reserved++;
    let advanced: Advanced | undefined;
    try {
      advanced = await advance(key, takeWork);
    } catch (error) {
      options.scanFailed(key, error);
    }
    scanning.delete(name);
    if (takeWork) reserved--;
    if (advanced !== undefined) settleScan(key, advanced, entry);
    pump();
  };

  const reserve = (key: AgentKey): Seat | undefined => {
    const name = agentName(key);
    if (room() <= 0 || held.has(name) || scanning.has(name)) return undefined;
    const entry = { again: false, more: false };
    scanning.set(name, entry);
    reserved++;
    const leave = (): void => {
      scanning.delete(name);
      reserved--;
    };
    return {
      take(work) {
        leave();
        hold(key, work, entry.again);
        pump();
      },
      drop() {
        leave();
        goOn(key, entry);
        pump();
      },
    };
  };

  /** Agents that wait for a place come first: they were rung earlier. */
  const next = (): { readonly key: AgentKey; readonly takeWork: boolean } | undefined => {
    if (room() > 0) {
      const key = takeFirst(waiting) ?? takeFirst(dirty);
      return key === undefined ? undefined : { key, takeWork: true };
    }
    // Scans under way have reserved the places that are left. They answer soon, and most of them bring no work.
    if (reserved > 0 && held.size < capacity) return undefined;
    const key = takeFirst(dirty);
    return key === undefined ? undefined : { key, takeWork: false };
  };

  const pump = (): void => {
    if (closing) {
      if (isQuiet()) drained?.();
      return;
    }
    while (scanning.size < MAX_SCANS) {
      const item = next();
      if (item === undefined) break;
      void scan(item.key, item.takeWork);
    }
    if (room() > 0 && dirty.size === 0 && waiting.size === 0) options.hungry();
  };

  return {
    ring,
    ringForWork,
    offer(key) {
      offer(key);
      pump();
    },
    reserve,
    room,
    close() {
      closing = true;
      dirty.clear();
      waiting.clear();
      return isQuiet() ? Promise.resolve() : new Promise((resolve) => (drained = resolve));
    },
    stats: () => ({
      held: held.size,
      dirty: dirty.size,
      scanning: scanning.size,
      waiting: waiting.size,
      scans,
      taken,
    }),
  };
};
