// Cuts the stream of commands off below the oldest open command, as long as the bus is open: the server keeps every command for a day
// (KS1). Only whole beginnings of the stream are cut off. To purge some subjects up to a number is not safe: a server (2.9.10) then
// counts commands that are being handled as acknowledged, and does not deliver them again when their service dies.

import type { ConsumerInfo, JetStreamManager } from "@nats-io/jetstream";
import { streamPlan } from "@toolplane/protocol/agents";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { addMark, type Mark, planTrim } from "./plan-trim.ts";
import { understandNats } from "./understand-nats.ts";
import { type Wire, whileConnected } from "./wire.ts";

export interface TrimOptions {
  readonly wire: Wire;
  readonly jsm: Promise<JetStreamManager>;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a command is kept that no durable is for. */
  readonly keepMs?: number | undefined;
}

/** A missing durable is made again within seconds. */
const KEEP_MS = 2 * 60 * 1000;
/** How often the stream is cut off in the time that commands are kept. */
const CUTS = 12;

export const trimCommands = (options: TrimOptions): { stop(): Promise<void> } => {
  const { wire, clock, log, keepMs = KEEP_MS } = options;
  const stream = streamPlan("cmd").name;
  const stopping = new AbortController();
  let marks: readonly Mark[] = [];
  let created: string | undefined;

  /** A durable that has delivered nothing for long says only where it stopped. */
  const findWaiting = async (jsm: JetStreamManager, { config, delivered }: ConsumerInfo): Promise<number> => {
    const next = delivered.stream_seq + 1;
    if (config.filter_subject === undefined) return next;
    // The library's types lack this question; servers have answered it since 2.9.
    const question = { seq: next, next_by_subj: config.filter_subject };
    const found = await jsm.streams.getMessage(stream, question);
    return found?.seq ?? next;
  };

  const readOpen = async (jsm: JetStreamManager): Promise<readonly number[]> => {
    const durables: ConsumerInfo[] = [];
    for await (const durable of jsm.consumers.list(stream)) durables.push(durable);
    const open: number[] = [];
    for (const durable of durables) {
      if (durable.num_ack_pending > 0) open.push(durable.ack_floor.stream_seq + 1);
      else if (durable.num_pending > 0) open.push(await findWaiting(jsm, durable));
    }
    return open;
  };

  const trim = async (): Promise<void> => {
    const jsm = await options.jsm;
    const info = await jsm.streams.info(stream);
    const open = await readOpen(jsm);
    // A stream that was made again counts from one.
    if (info.created !== created) marks = [];
    created = info.created;
    const now = clock.now();
    marks = addMark(marks, { at: now, last: info.state.last_seq }, keepMs);
    const seq = planTrim(marks, open, { now, keepMs });
    if (seq !== undefined && seq > info.state.first_seq) await jsm.streams.purge(stream, { seq });
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await clock.sleep(keepMs / CUTS, stopping.signal);
      if (stopping.signal.aborted) return;
      try {
        await whileConnected(wire, trim);
      } catch (error) {
        // Without a connection or a stream there is nothing to cut off; the next round tries again.
        const { code, message: reason } = understandNats(error);
        if (code !== "auth_failed") continue;
        log.warn("commands that are done stay on NATS for a day: this user may not list or purge", { reason });
        return;
      }
    }
  };
  const ended = loop();

  return {
    async stop() {
      stopping.abort();
      await ended;
    },
  };
};
