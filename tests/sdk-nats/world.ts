// A plane on a real NATS server: the engine carries its commands there, the gateway answers there, and services know
// nothing but the address.

import { createNatsBus, type NatsLink, openNatsLink } from "@toolplane/bus/nats";
import type { CallView, Engine, EngineOptions } from "@toolplane/engine";
import { findFreePort } from "@toolplane/processes";
import type { JsonObject } from "@toolplane/protocol";
import {
  type Log,
  type LogFields,
  type ServeOptions,
  type Serving,
  serveTools,
  silentLog,
  type Tool,
} from "@toolplane/sdk";
import { createNatsGateway } from "@toolplane/server/internal";
import { type NatsOptions, startNats, startTestEngine, type TestEngine, type TestNats } from "@toolplane/testkit";

export interface World extends AsyncDisposable {
  readonly nats: TestNats;
  readonly engine: Engine;
  readonly link: NatsLink;
  readonly test: TestEngine;
  /** A service as people start it, with nothing but an address. */
  serve(tools: readonly Tool[], options: Partial<ServeOptions> & { readonly target: string }): Promise<Serving>;
  /** A call, and its end. */
  call(toolName: string, args?: JsonObject, more?: { readonly projectId?: string }): Promise<CallView>;
  /** A call that is not waited for; its id. */
  dispatch(toolName: string, args?: JsonObject, more?: { readonly projectId?: string }): Promise<string>;
  /** What the tool gave back. */
  resultOf(view: CallView): Promise<unknown>;
  /** Commands of a target that NATS still holds. */
  waitingCommands(target: string): Promise<number>;
  /** How many connections to NATS have a name that begins so. */
  connections(prefix: string): Promise<number>;
  /** When a call has this status. */
  until(toolCallId: string, status: CallView["status"]): Promise<CallView>;
}

export interface WorldOptions extends Partial<EngineOptions> {
  readonly nats?: NatsOptions;
  /** With user and password, when the server wants them. */
  readonly url?: (nats: TestNats) => string;
}

/** A machine that does ten things at once is slow, not wrong. */
const CALL_MS = 100_000;

export const openWorld = async ({ nats: natsOptions, url, ...engineOptions }: WorldOptions = {}): Promise<World> => {
  await using stack = new AsyncDisposableStack();
  const monitorPort = await findFreePort();
  const monitor = `http://127.0.0.1:${monitorPort}`;
  const config = `http: "127.0.0.1:${monitorPort}"\n${natsOptions?.config ?? ""}`;
  const nats = stack.use(await startNats({ ...natsOptions, config }));
  const address = url?.(nats) ?? nats.url;
  const link = await openNatsLink({ url: address, name: "plane" }, { log: silentLog });
  stack.defer(() => link.close());
  const test = stack.use(
    await startTestEngine({
      tools: [],
      watchdog: true,
      ...engineOptions,
      carrier: { open: ({ bury, log }) => createNatsBus({ link, bury, log }), republishSeconds: 2 },
    }),
  );
  const { engine } = test;
  const gateway = await createNatsGateway({ engine, link, log: silentLog });
  stack.defer(() => gateway.stop());
  const rest = stack.move();
  const ask = async (subject: string): Promise<Record<string, unknown>> => {
    const { payload } = await link.request({ subject, headers: {}, payload: "" }, { timeoutMs: 5_000 });
    return JSON.parse(payload) as Record<string, unknown>;
  };

  const world: World = {
    nats,
    engine,
    link,
    test,
    serve: (tools, options) =>
      serveTools(tools, {
        log: silentLog,
        handleSignals: false,
        env: { TOOLPLANE_URL: nats.url, TOOLPLANE_PROJECT: test.projectId },
        ...options,
      }),
    async call(toolName, args = {}, { projectId = test.projectId } = {}) {
      const { toolCallId } = await engine.calls.call({ projectId, toolName, arguments: args }, CALL_MS);
      return engine.calls.get({ projectId, toolCallId });
    },
    async dispatch(toolName, args = {}, { projectId = test.projectId } = {}) {
      const { toolCallId } = await engine.calls.dispatch({ projectId, toolName, arguments: args });
      return toolCallId;
    },
    async resultOf({ projectId, resultCardId }) {
      const [card] = await engine.cards.getCards(projectId, resultCardId === null ? [] : [resultCardId]);
      return card?.content.__type__ === "ToolResultContent" ? card.content.result : undefined;
    },
    async waitingCommands(target) {
      const info = await ask(`$JS.API.CONSUMER.INFO.cg_cmd_v1r4.tool_${target}__${test.projectId}`);
      return Number(info.num_pending) + Number(info.num_ack_pending);
    },
    async connections(prefix) {
      const { connections = [] } = (await (await fetch(`${monitor}/connz`)).json()) as {
        connections?: { name?: string }[];
      };
      return connections.filter(({ name = "" }) => name.startsWith(prefix)).length;
    },
    async until(toolCallId, status) {
      const end = Date.now() + CALL_MS;
      for (;;) {
        const view = await engine.calls.get({ projectId: test.projectId, toolCallId });
        if (view.status === status) return view;
        if (Date.now() > end) throw new RangeError(`the call stayed ${view.status}, not ${status}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
  return world;
};

/** Something one side waits for and the other does. */
export const createGate = (): { readonly whenOpen: Promise<void>; open(): void } => {
  let open = (): void => {};
  const whenOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { whenOpen, open: () => open() };
};

export interface RecordingLog extends Log {
  readonly messages: string[];
  /** Everything it was told, as text. */
  text(): string;
}

export const createRecordingLog = (): RecordingLog => {
  const messages: string[] = [];
  const lines: string[] = [];
  const note = (message: string, fields: LogFields = {}): void => {
    messages.push(message);
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  return { messages, text: () => lines.join("\n"), info: note, warn: note, error: note };
};
