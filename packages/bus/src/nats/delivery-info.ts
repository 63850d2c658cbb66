// What a JetStream server says about a delivery, in the subject on which it wants the answer:
//   $JS.ACK.{stream}.{consumer}.{deliveries}.{sequence}.{consumer sequence}.{time}.{pending}
//   $JS.ACK.{domain}.{account}.{stream}.{consumer}.{deliveries}.{sequence}.{...}.{time}.{pending}[.{random}]

export interface DeliveryInfo {
  /** How often the server has delivered this message to this durable, this time included. */
  readonly attempt: number;
  /** Its stream, its place in it and when it was stored: the same each time it is delivered, another in a stream made anew. */
  readonly origin: string;
}

const SHORT = { tokens: 9, attempt: 4 } as const;
const LONG = { tokens: 11, attempt: 6 } as const;

/** Undefined when the message does not come from a durable. */
export const tryParseDeliveryInfo = (reply: string): DeliveryInfo | undefined => {
  const tokens = reply.split(".");
  if (tokens[0] !== "$JS" || tokens[1] !== "ACK") return undefined;
  const form = tokens.length === SHORT.tokens ? SHORT : tokens.length >= LONG.tokens ? LONG : undefined;
  if (form === undefined) return undefined;
  const attempt = Number(tokens[form.attempt]);
  const [stream, sequence, time] = [tokens[form.attempt - 2], tokens[form.attempt + 1], tokens[form.attempt + 3]];
  const origin = `${stream}.${sequence}.${time}`;
  return Number.isInteger(attempt) && attempt > 0 && Number.isInteger(Number(sequence))
    ? { attempt, origin }
    : undefined;
};
