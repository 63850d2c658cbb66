// The scripted plane on a NATS server: commands in the stream, requests answered on the gateway's subjects; everything else that
// is published is recorded. Our own messages are recognised by their reply address.

import { type BareMessage, type BareNats, openBareNats } from "@toolplane/bus/nats";
import { isRecord, tryParseJsonStrict } from "@toolplane/protocol";
import type { SentCommand, SettlementWord } from "../evidence.ts";
import type { PlannedCall } from "../planned-call.ts";
import type { Sleep, Watch } from "../watch.ts";
import { createNatsDesk, isOperation } from "./nats-desk.ts";
import { prepareServer } from "./nats-server.ts";
import type { ScriptedPlane } from "./scripted-plane.ts";
import type { ServiceDoor } from "./service-door.ts";

export interface NatsDoorOptions {
  readonly plane: ScriptedPlane;
  readonly projectId: string;
  readonly target: string;
  readonly url: string;
  readonly credentials?: string | undefined;
  readonly watch: Watch;
  readonly sleep: Sleep;
  readonly now: () => number;
  readonly uuid: () => string;
}

/** How often the server is asked whether a command was fetched, and how often a listening service is called again. */
const LOOK_MS = 20;
const KNOCK_MS = 500;
const PUBLISH_MS = 5_000;
const NANOS_PER_MS = 1_000_000;
const MOST_CLAIM_MS = 60_000;
const API = "$JS.API.";
const NEXT = `${API}CONSUMER.MSG.NEXT.`;
/** Tokens of `$JS.ACK.{stream}.{consumer}.{delivered}.{stream sequence}...`. */
const SEQUENCE_TOKEN = 5;
/** Questions to the server that change nothing. */
const READS = [
  "INFO",
  "STREAM.INFO.",
  "STREAM.NAMES",
  "STREAM.LIST",
  "CONSUMER.INFO.",
  "CONSUMER.NAMES.",
  "CONSUMER.LIST.",
];

const silent = { info: () => {}, warn: () => {}, error: () => {} };

/** A server that goes away in the middle shows by missing messages. */
const inBackground = (work: Promise<unknown>): void => void work.catch(() => undefined);

const wordIn = (payload: string): SettlementWord => {
  if (payload.startsWith("-NAK")) return "nak";
  if (payload.startsWith("+TERM")) return "term";
  return payload.startsWith("+WPI") ? "progress" : "ack";
};

/** What a fetch asks for: a number, or an object with a batch and nanoseconds to wait. */
const fetchIn = (payload: string): { readonly max: number; readonly ms: number } => {
  const body = tryParseJsonStrict(payload);
  const batch = isRecord(body) ? body.batch : body;
  const expires = isRecord(body) ? body.expires : undefined;
  return {
    max: typeof batch === "number" && Number.isInteger(batch) && batch > 0 ? batch : 1,
    ms: typeof expires === "number" ? expires / NANOS_PER_MS : 0,
  };
};

export const openNatsDoor = async (options: NatsDoorOptions): Promise<ServiceDoor> => {
  const { plane, projectId, target, url, watch, sleep, uuid } = options;
  const { books } = plane;
  const inboxPrefix = `_INBOX_conform_${uuid().replaceAll("-", "")}`;
  const { credentials } = options;
  const nats: BareNats = await openBareNats(
    { url, credentials, name: "toolplane conform", inboxPrefix },
    { log: silent },
  );
  const server = await prepareServer(nats, projectId, target).catch(async (error: unknown) => {
    await nats.close();
    throw error;
  });
  const gateway = createNatsDesk({
    plane,
    durable: { stream: server.stream, name: server.durable },
    now: options.now,
  });
  const sent = new Set<SentCommand>();
  /** By sequence: a settlement may be heard before the sequence of the published command is known. */
  const words = new Map<number, SentCommand["words"]>();
  let waiting: { readonly command: SentCommand; readonly call: PlannedCall }[] = [];
  let looking = false;
  let closed = false;
  let claimsAreBack = true;
  let longestFetchMs = 0;
  /** A service that only listens has answered once, so it hears what is published. */
  let isHeard = false;

  const isOwn = ({ reply }: BareMessage): boolean => reply?.startsWith(inboxPrefix) === true;
  const note = (path: string, known: boolean): void => {
    books.requests.push({ method: "PUB", path, hasToken: true, known });
    watch.changed();
  };

  const onProtocol = async (message: BareMessage): Promise<void> => {
    const question = gateway.read(message);
    note(message.subject, question !== undefined && isOperation(question.operation));
    if (question === undefined) return;
    const asked = [question, ...gateway.itemsOf(question, message)];
    if (asked.some(({ record }) => record !== undefined)) isHeard = true;
    books.questions.push(...asked);
    const { headers, payload } = await gateway.answer(question, message);
    watch.changed();
    if (message.reply !== undefined && !closed) nats.publish(message.reply, payload, { headers });
  };

  const onApi = ({ subject, payload }: BareMessage): void => {
    const asked = subject.slice(API.length);
    note(subject, subject.startsWith(NEXT) || READS.some((read) => asked.startsWith(read)));
    if (!subject.startsWith(NEXT)) return;
    const durable = subject.slice(NEXT.length).split(".")[1] ?? "";
    const claimed = durable === server.durable ? target : durable;
    const { max, ms } = fetchIn(payload);
    longestFetchMs = Math.max(longestFetchMs, ms);
    books.claims.push({ target: claimed, max, fault: undefined });
    watch.changed();
  };

  const wordsAbout = (sequence: number): SentCommand["words"] => {
    const said = words.get(sequence) ?? [];
    words.set(sequence, said);
    return said;
  };

  const onSettlement = ({ subject, payload }: BareMessage): void => {
    wordsAbout(Number(subject.split(".")[SEQUENCE_TOKEN])).push({ order: plane.nextOrder(), word: wordIn(payload) });
    watch.changed();
  };

  const isFetching = (): boolean => books.claims.some((claim) => claim.target === target);

  /** A fetching service has the command when the server says so; a listening service has it when it was published. */
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    while (waiting.length > 0 && !closed) {
      const upTo = isFetching() ? await server.delivered() : Number.POSITIVE_INFINITY;
      for (const { command, call } of waiting.filter((one) => one.command.sequence <= upTo)) {
        const record = plane.recordOf(call);
        if (record !== undefined) record.trace.deliveries += 1;
        command.abandoned = !isFetching();
      }
      waiting = waiting.filter(({ command }) => command.sequence > upTo);
      watch.changed();
      if (waiting.length > 0) await sleep(LOOK_MS);
    }
    looking = false;
  };

  const publish = async (call: PlannedCall): Promise<void> => {
    const { subject, headers, payload } = call.command;
    const { payload: ack } = await nats.ask(subject, call.rawPayload ?? JSON.stringify(payload), {
      headers: { ...headers, "Nats-Msg-Id": `${projectId}:${uuid()}` },
      timeoutMs: PUBLISH_MS,
    });
    const stored = tryParseJsonStrict(ack);
    const sequence = isRecord(stored) && typeof stored.seq === "number" ? stored.seq : 0;
    const command: SentCommand = { sequence, words: wordsAbout(sequence), abandoned: false };
    sent.add(command);
    plane.recordOf(call)?.trace.commands.push(command);
    waiting.push({ command, call });
  };

  /** A message published before the service listens is lost, so the first call is published until the service hears it. */
  const knock = async (calls: readonly PlannedCall[]): Promise<void> => {
    while (!isHeard && !isFetching() && !closed) {
      await sleep(KNOCK_MS);
      if (!isHeard && !isFetching() && !closed) await Promise.all(calls.map(publish));
    }
  };

  const tapApi = (): Promise<() => void> =>
    nats.listen(`${API}>`, (message) => {
      if (!isOwn(message)) onApi(message);
    });
  const stops = await Promise.all([
    nats.listen("cg.>", (message) => {
      if (!isOwn(message)) inBackground(onProtocol(message));
    }),
    nats.listen("$JS.ACK.>", onSettlement),
  ]);
  let stopApi = await tapApi();

  /** Our listener is closed meanwhile: the server reports a missing durable only when no subscriber at all hears the request. */
  const breakClaims = async (): Promise<void> => {
    claimsAreBack = false;
    stopApi();
    await server.replaceDurable();
    stopApi = await tapApi();
    inBackground(lookForFetches());
  };
  const lookForFetches = async (): Promise<void> => {
    while (!claimsAreBack && !closed) {
      claimsAreBack = await server.isAwaited();
      watch.changed();
      if (!claimsAreBack) await sleep(LOOK_MS);
    }
  };

  const plainTools = (): number =>
    plane.shelf.tools().filter(({ options: { service } }) => service === "plain").length === 0
      ? 0
      : books.questions.filter(({ operation }) => operation === "register" || operation === "get_tool").length;

  return {
    connection: {
      url,
      token: "",
      projectId,
      variables: {
        TOOLPLANE_URL: url,
        TOOLPLANE_NATS_URL: url,
        TOOLPLANE_PROJECT: projectId,
        TOOLPLANE_TARGET: target,
      },
    },
    give(batch) {
      inBackground(Promise.all(batch.map(publish)).then(look));
      if (!isHeard && !isFetching()) inBackground(knock(batch));
    },
    arrivals: () => books.claims.filter((claim) => claim.target === target).length + plainTools(),
    breakClaims,
    areClaimsBack: () => claimsAreBack,
    // A fetch that arrives while its durable is being deleted gets no answer; the service waits until the fetch expires.
    claimMs: () => Math.min(longestFetchMs, MOST_CLAIM_MS),
    async clear() {
      for (const command of sent) command.abandoned = true;
      waiting = [];
      isHeard = false;
      await server.purge();
    },
    async close() {
      closed = true;
      for (const stop of [...stops, stopApi]) stop();
      await server.remove();
      await nats.close();
    },
  };
};
