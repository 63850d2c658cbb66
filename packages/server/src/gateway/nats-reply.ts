// An answer over NATS: the body of the HTTP API, its status in a header, and the server's time in another, with which a client
// translates the times in it to its own clock.

import type { NatsReply } from "@toolplane/bus/nats";
import type { LeasedCall } from "@toolplane/engine";
import { HEADERS, ToolplaneError, utf8Bytes } from "@toolplane/protocol";
import { commandBody } from "./lease-operations.ts";
import type { ServiceAnswer } from "./service-request.ts";

const STATUS_HEADER = "CG-Status";

/** Our two headers with their names and line ends; the server counts them with the payload. */
const HEADER_BYTES = 128;

export interface ReplyMeans {
  /** The clock that the times in answers come from. */
  readonly nowMs: number;
  readonly maxPayload: number | undefined;
}

const replyOf = (status: number, payload: string, { nowMs }: ReplyMeans): NatsReply => ({
  headers: { [HEADERS.timestamp]: String(nowMs), [STATUS_HEADER]: String(status) },
  payload,
});

export const refusal = (error: ToolplaneError, means: ReplyMeans): NatsReply =>
  replyOf(error.http, JSON.stringify({ error: error.toWire() }), means);

const fits = (payload: string, { maxPayload }: ReplyMeans): boolean =>
  maxPayload === undefined || utf8Bytes(payload) + HEADER_BYTES <= maxPayload;

const tooLarge = (means: ReplyMeans): NatsReply => {
  const { maxPayload } = means;
  return refusal(
    new ToolplaneError(
      "payload_too_large",
      `the answer is larger than this NATS server's max_payload of ${maxPayload} bytes; ask over HTTP, or raise max_payload`,
      { detail: { max_bytes: maxPayload } },
    ),
    means,
  );
};

const withoutCard = (body: unknown): unknown => {
  const { card: _, ...rest } = body as Readonly<Record<string, unknown>>;
  return rest;
};

/**
 * When the card of a leased call is too large for this NATS server, the call is handed over without it: the service asks for the
 * card, gets the reason, and settles the call. If the lease were refused instead, the call would wait for ever.
 */
export const planReply = ({ status, body }: ServiceAnswer, isLease: boolean, means: ReplyMeans): NatsReply => {
  const payload = JSON.stringify(body);
  if (fits(payload, means)) return replyOf(status, payload, means);
  const smaller = isLease ? JSON.stringify(withoutCard(body)) : payload;
  if (fits(smaller, means)) return replyOf(status, smaller, means);
  return tooLarge(means);
};

/** An answer with calls that were leased to the asker, and those that did not fit into it. */
export interface CommandsReply {
  readonly reply: NatsReply;
  readonly sent: readonly LeasedCall[];
  readonly unsent: readonly LeasedCall[];
}

/** The card is JSON text already. */
const withCard = (call: LeasedCall): string =>
  `${JSON.stringify(commandBody(call)).slice(0, -1)},"card":${call.cardBody}}`;

/** As many calls as fit. A call that is alone and too large comes without its card, as from `lease`. */
export const planCommandsReply = (
  { status, body }: ServiceAnswer,
  calls: readonly LeasedCall[],
  means: ReplyMeans,
): CommandsReply => {
  const { commands: _, ...said } = body as Readonly<Record<string, unknown>>;
  const answerWith = (commands: readonly string[]): string =>
    `${JSON.stringify(said).slice(0, -1)},"commands":[${commands.join(",")}]}`;
  let left = (means.maxPayload ?? Number.POSITIVE_INFINITY) - HEADER_BYTES - utf8Bytes(answerWith([]));
  const texts: string[] = [];
  const sent: LeasedCall[] = [];
  for (const call of calls) {
    const forms = sent.length > 0 ? [withCard(call)] : [withCard(call), JSON.stringify(commandBody(call))];
    const text = forms.find((form) => utf8Bytes(form) < left);
    if (text === undefined) break;
    left -= utf8Bytes(text) + 1;
    texts.push(text);
    sent.push(call);
  }
  const reply = calls.length > 0 && sent.length === 0 ? tooLarge(means) : replyOf(status, answerWith(texts), means);
  return { reply, sent, unsent: calls.slice(sent.length) };
};
