// The gateway's questions over NATS, answered by the scripted plane. Every answer has its status and the time in headers.

import type { BareMessage } from "@toolplane/bus/nats";
import {
  GATEWAY_OPERATIONS,
  type GatewayOperation,
  HEADERS,
  type HeaderMap,
  isRecord,
  PROTOCOL_VERSION,
  tryParseJsonStrict,
  tryParseSubject,
} from "@toolplane/protocol";
import type { Question } from "../evidence.ts";
import { answerExchange, itemsIn } from "./exchange-desk.ts";
import { noSuch, noWorkHere } from "./refuse.ts";
import { textOrNothing } from "./result-desk.ts";
import type { ScriptedPlane } from "./scripted-plane.ts";

export interface NatsAnswer {
  readonly headers: HeaderMap;
  readonly payload: string;
}

type Body = Readonly<Record<string, unknown>>;
type Operate = (question: Question, message: BareMessage) => Response | Promise<Response>;

const STATUS_HEADER = "CG-Status";

export const isOperation = (text: string): text is GatewayOperation => GATEWAY_OPERATIONS.some((one) => one === text);

/** A request over NATS cannot be hung up. */
const NEVER = new AbortController().signal;

/** As HTTP headers, which the desks read; what cannot be one is left out. */
const asHeaders = (map: HeaderMap): Headers => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(map)) {
    try {
      headers.set(name, value);
    } catch {
      // Not printable, so it counts as absent.
    }
  }
  return headers;
};

const upload = (payload: string): Request =>
  new Request("http://conform/tools", {
    method: "POST",
    body: payload,
    headers: { "content-type": "application/json" },
  });

export interface NatsDesk {
  /** The question, as the judges will see it. */
  read(message: BareMessage): Question | undefined;
  /** Splits an exchange into its items; each is the question that a service would have sent for this item alone. */
  itemsOf(question: Question, message: BareMessage): readonly Question[];
  answer(question: Question, message: BareMessage): Promise<NatsAnswer>;
}

export interface NatsGatewayOptions {
  readonly plane: ScriptedPlane;
  /** Where the commands are. */
  readonly durable: { readonly stream: string; readonly name: string };
  readonly now: () => number;
}

export const createNatsDesk = ({ plane, durable, now }: NatsGatewayOptions): NatsDesk => {
  const bodyOf = ({ payload }: BareMessage): Body => {
    const body = tryParseJsonStrict(payload);
    return isRecord(body) ? body : {};
  };

  const operations: Readonly<Record<GatewayOperation, Operate>> = {
    attach: () => Response.json({ stream: durable.stream, durable: durable.name }),
    lease: ({ record }) => plane.lease(record),
    get_card: ({ record }) => plane.readCard(record, NEVER),
    heartbeat: ({ record }) => plane.beat(record),
    release: ({ record }) => plane.release(record),
    settle: ({ callId }, message) =>
      plane.results.takeResult(callId ?? "", bodyOf(message), asHeaders(message.headers)),
    exchange: async (_, message) => {
      const { max } = bodyOf(message);
      // What a service does with a command is judged by its commands.
      if (typeof max === "number" && max > 0) return noWorkHere();
      const answers = await answerExchange(plane, itemsIn(bodyOf(message)), asHeaders(message.headers));
      return Response.json({ ...answers, commands: [] });
    },
    put_card: (_, message) => plane.results.takeCard(bodyOf(message)),
    report: (_, message) => plane.results.takeReport(bodyOf(message), asHeaders(message.headers)),
    parts: () => Response.json({ accepted: 1 }, { status: 202 }),
    get_tool: (_, message) => plane.shelf.show(textOrNothing(bodyOf(message).tool_name) ?? "without a name"),
    register: (_, message) => plane.shelf.register(upload(message.payload)),
  };

  return {
    read(message) {
      const subject = tryParseSubject(message.subject);
      if (subject?.category !== "rpc") return undefined;
      const body = bodyOf(message);
      const callId = textOrNothing(message.headers[HEADERS.toolCallId]);
      return {
        projectId: subject.projectId,
        actor: subject.target,
        operation: subject.suffix,
        subject: message.subject,
        callId,
        turnId: textOrNothing(message.headers[HEADERS.turnId]),
        headers: message.headers,
        record: plane.find({
          call: callId,
          card: textOrNothing(body.tool_call_card_id) ?? textOrNothing(body.card_id),
          lease: textOrNothing(body.lease),
        }),
      };
    },
    itemsOf(question, message) {
      if (question.operation !== "exchange") return [];
      return itemsIn(bodyOf(message)).map(({ operation, callId, lease }) => ({
        ...question,
        operation,
        callId,
        record: plane.find({ call: callId, lease }),
      }));
    },
    async answer(question, message) {
      const { operation } = question;
      const response = isOperation(operation)
        ? await operations[operation](question, message)
        : noSuch(`operation ${operation}`);
      return {
        headers: {
          [STATUS_HEADER]: String(response.status),
          [HEADERS.timestamp]: String(now()),
          [HEADERS.version]: PROTOCOL_VERSION,
        },
        payload: await response.text(),
      };
    },
  };
};
