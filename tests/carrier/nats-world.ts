// An engine whose messages a real nats-server carries, and a look at what the server holds.

import { type BareNats, createNatsBus, type NatsLink, openBareNats, openNatsLink } from "@toolplane/bus/nats";
import { type Carrier, silentLog } from "@toolplane/engine";
import { startNats, type TestNats } from "@toolplane/testkit";

export interface NatsGround extends AsyncDisposable {
  readonly server: TestNats;
  /** Sees and says anything. */
  readonly bare: BareNats;
  /** A carrier over a connection of its own, as another process would have it. */
  carrier(options?: Omit<Carrier, "open">): Promise<Carrier & { readonly link: NatsLink }>;
  /** How many messages the server holds of a stream, or of one subject in it. */
  held(category: "cmd" | "evt", subject?: string): Promise<number>;
  /** How many commands its durables have not acknowledged. */
  open(): Promise<number>;
  /** How many messages the stream has taken since it was made. */
  taken(category: "cmd" | "evt"): Promise<number>;
}

interface StreamState {
  readonly messages: number;
  readonly last_seq: number;
  readonly subjects?: Readonly<Record<string, number>>;
}

interface DurableState {
  readonly num_pending: number;
  readonly num_ack_pending: number;
}

export interface NatsGroundOptions {
  /** How long a command that is done, or that no durable waits for, stays on the stream; short, so that a test sees it leave. */
  readonly keepCommandsMs?: number;
}

export const openNatsGround = async ({ keepCommandsMs = 300 }: NatsGroundOptions = {}): Promise<NatsGround> => {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startNats());
  const open = { url: server.url, name: "test" };
  const bare = await openBareNats(open, { log: silentLog });
  stack.defer(() => bare.close());
  const rest = stack.move();
  const stateOf = async (category: "cmd" | "evt", ask: object = {}): Promise<StreamState | undefined> => {
    const question = JSON.stringify(ask);
    const answer = await bare.ask(`$JS.API.STREAM.INFO.cg_${category}_v1r4`, question, { timeoutMs: 5_000 });
    return (JSON.parse(answer.payload) as { state?: StreamState }).state;
  };
  return {
    server,
    bare,
    async carrier(options = {}) {
      const link = await openNatsLink(open, { log: silentLog });
      rest.defer(() => link.close());
      return { ...options, link, open: ({ bury, log }) => createNatsBus({ link, bury, log, keepCommandsMs }) };
    },
    async held(category, subject) {
      if (subject === undefined) return (await stateOf(category))?.messages ?? 0;
      return (await stateOf(category, { subjects_filter: subject }))?.subjects?.[subject] ?? 0;
    },
    async open() {
      const answer = await bare.ask("$JS.API.CONSUMER.LIST.cg_cmd_v1r4", "", { timeoutMs: 5_000 });
      const { consumers } = JSON.parse(answer.payload) as { consumers?: readonly DurableState[] };
      return (consumers ?? []).reduce((sum, durable) => sum + durable.num_pending + durable.num_ack_pending, 0);
    },
    taken: async (category) => (await stateOf(category))?.last_seq ?? 0,
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
};
