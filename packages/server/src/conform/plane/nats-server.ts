// What the plane keeps on a nats-server: the two streams and the durable of the target. Everything made here is in memory, says
// so in its description, and is removed at the end; leftovers of an earlier run are replaced.
//   NS1. A server that a plane uses is left alone: its durables would get our commands, and its services would run them.

import type { BareNats } from "@toolplane/bus/nats";
import { createPattern, isRecord, ToolplaneError, tryParseJsonStrict } from "@toolplane/protocol";
import { streamPlan, toolCommandSubscription } from "@toolplane/protocol/agents";

export interface NatsServer {
  readonly stream: string;
  readonly durable: string;
  /** The highest sequence that was handed to a service. */
  delivered(): Promise<number>;
  /** A client waits for messages. */
  isAwaited(): Promise<boolean>;
  /** The durable is deleted for a moment: a service that fetches from it gets an error. */
  replaceDurable(): Promise<void>;
  purge(): Promise<void>;
  remove(): Promise<void>;
}

const MARK = "made by toolplane conform; may be deleted";
const API_MS = 5_000;
const NANOS_PER_SECOND = 1_000_000_000;
/** As the real plane's. */
const ACK_WAIT_SECONDS = 30;
/** JetStream's own numbers: no such stream, no such consumer. */
const MISSING: ReadonlySet<unknown> = new Set([10059, 10014]);

type Answer = Readonly<Record<string, unknown>>;

/** Part of every refusal: whatever is wrong with this server, a server that only conform uses will work. */
const ANOTHER_SERVER = { todo: "give conform a server of its own: nats-server -js -p 4333" };

const refused = (message: string): ToolplaneError =>
  new ToolplaneError("conflict", message, { detail: ANOTHER_SERVER });

const listNames = (value: unknown): readonly string[] =>
  Array.isArray(value)
    ? value.flatMap((item) => (isRecord(item) && typeof item.name === "string" ? [item.name] : []))
    : [];

const descriptionIn = (value: unknown): unknown =>
  isRecord(value) && isRecord(value.config) ? value.config.description : undefined;

const createApi = (nats: BareNats) => {
  /** Undefined when the stream or consumer does not exist. */
  return async (subject: string, body: object = {}): Promise<Answer | undefined> => {
    const { payload } = await nats.ask(`$JS.API.${subject}`, JSON.stringify(body), { timeoutMs: API_MS });
    const answer = tryParseJsonStrict(payload);
    if (!isRecord(answer)) throw refused(`the NATS server answers ${subject} with something that is not JSON`);
    const error = isRecord(answer.error) ? answer.error : undefined;
    if (error === undefined) return answer;
    if (MISSING.has(error.err_code)) return undefined;
    throw refused(`the NATS server refuses ${subject}: ${String(error.description)}`);
  };
};

export const prepareServer = async (nats: BareNats, projectId: string, target: string): Promise<NatsServer> => {
  const api = createApi(nats);
  const { durable } = toolCommandSubscription(projectId, target);
  // Wider than a real plane's, so that a command of another project can be delivered: the service must leave it alone.
  const pattern = createPattern({ category: "cmd", component: "tool", target });
  const plans = [streamPlan("cmd"), streamPlan("evt")];
  const stream = streamPlan("cmd").name;

  const account = await api("INFO").catch(() => undefined);
  if (account === undefined)
    throw new ToolplaneError("upstream_unavailable", "this NATS server has no JetStream for this user", {
      detail: ANOTHER_SERVER,
    });

  for (const { name } of plans) {
    const found = await api(`STREAM.INFO.${name}`);
    if (found === undefined) continue;
    if (descriptionIn(found) !== MARK) {
      const consumers = listNames((await api(`CONSUMER.LIST.${name}`, { offset: 0 }))?.consumers);
      const uses = consumers.length === 0 ? "" : ` with ${consumers.slice(0, 3).join(", ")}`;
      throw refused(`a plane uses this NATS server (stream ${name}${uses})`);
    }
    await api(`STREAM.DELETE.${name}`);
  }
  for (const { name, filter, maxAgeSeconds } of plans)
    await api(`STREAM.CREATE.${name}`, {
      name,
      description: MARK,
      subjects: [filter.text],
      // A durable that is made again must not bring commands that are done.
      retention: name === stream ? "workqueue" : "limits",
      storage: "memory",
      max_age: maxAgeSeconds * NANOS_PER_SECOND,
    });

  const makeDurable = async (): Promise<void> => {
    await api(`CONSUMER.DURABLE.CREATE.${stream}.${durable}`, {
      stream_name: stream,
      config: {
        durable_name: durable,
        description: MARK,
        filter_subject: pattern.text,
        deliver_policy: "all",
        ack_policy: "explicit",
        ack_wait: ACK_WAIT_SECONDS * NANOS_PER_SECOND,
        max_deliver: -1,
        replay_policy: "instant",
      },
    });
  };
  await makeDurable();

  return {
    stream,
    durable,
    async delivered() {
      const info = await api(`CONSUMER.INFO.${stream}.${durable}`);
      const delivered = isRecord(info?.delivered) ? info.delivered.stream_seq : undefined;
      return typeof delivered === "number" ? delivered : 0;
    },
    async isAwaited() {
      const waiting = (await api(`CONSUMER.INFO.${stream}.${durable}`))?.num_waiting;
      return typeof waiting === "number" && waiting > 0;
    },
    async replaceDurable() {
      await api(`CONSUMER.DELETE.${stream}.${durable}`);
      await makeDurable();
    },
    async purge() {
      await api(`STREAM.PURGE.${stream}`);
    },
    async remove() {
      for (const { name } of plans) await api(`STREAM.DELETE.${name}`).catch(() => undefined);
    },
  };
};
