// The message of OTLP as protobuf: the few kinds of fields that it has, by their numbers in the standard (opentelemetry/proto/trace/v1).
// The official packages bring a hundred times as much; the numbers of the standard's fields do not change.

export type OtlpValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number };

export interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code: number; readonly message: string };
}

interface ResourceSpans {
  readonly resource: { readonly attributes: readonly OtlpAttribute[] };
  readonly scopeSpans: readonly { readonly scope: { readonly name: string }; readonly spans: readonly OtlpSpan[] }[];
}

/** As the standard's JSON has it: ids in hexadecimal, large numbers as text. */
export interface OtlpMessage {
  readonly resourceSpans: readonly ResourceSpans[];
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const MORE = 0x80n;
const LOW_BITS = 0x7fn;
const FIXED64_BYTES = 8;

const varint = (value: bigint): Buffer => {
  const bytes: number[] = [];
  // A negative number is written as 64 bits.
  let rest = BigInt.asUintN(64, value);
  for (; rest >= MORE; rest >>= 7n) bytes.push(Number((rest & LOW_BITS) | MORE));
  bytes.push(Number(rest));
  return Buffer.from(bytes);
};

const tag = (field: number, kind: number): Buffer => varint(BigInt(field * 8 + kind));

const bytesField = (field: number, value: Buffer): Buffer =>
  Buffer.concat([tag(field, BYTES), varint(BigInt(value.length)), value]);
const textField = (field: number, value: string): Buffer => bytesField(field, Buffer.from(value));
const idField = (field: number, hex: string): Buffer => bytesField(field, Buffer.from(hex, "hex"));
const numberField = (field: number, value: bigint | number): Buffer =>
  Buffer.concat([tag(field, VARINT), varint(BigInt(value))]);
const message = (field: number, ...fields: readonly Buffer[]): Buffer => bytesField(field, Buffer.concat(fields));

const nanosField = (field: number, nanos: string): Buffer => {
  const value = Buffer.alloc(FIXED64_BYTES);
  value.writeBigUInt64LE(BigInt(nanos));
  return Buffer.concat([tag(field, FIXED64), value]);
};

const doubleField = (field: number, number: number): Buffer => {
  const value = Buffer.alloc(FIXED64_BYTES);
  value.writeDoubleLE(number);
  return Buffer.concat([tag(field, FIXED64), value]);
};

const anyValue = (value: OtlpValue): Buffer => {
  if ("stringValue" in value) return textField(1, value.stringValue);
  if ("boolValue" in value) return numberField(2, value.boolValue ? 1 : 0);
  if ("intValue" in value) return numberField(3, BigInt(value.intValue));
  return doubleField(4, value.doubleValue);
};

const attributes = (field: number, list: readonly OtlpAttribute[]): Buffer[] =>
  list.map(({ key, value }) => message(field, textField(1, key), message(2, anyValue(value))));

const spanFields = (span: OtlpSpan): Buffer[] => [
  idField(1, span.traceId),
  idField(2, span.spanId),
  ...(span.parentSpanId === undefined ? [] : [idField(4, span.parentSpanId)]),
  textField(5, span.name),
  numberField(6, span.kind),
  nanosField(7, span.startTimeUnixNano),
  nanosField(8, span.endTimeUnixNano),
  ...attributes(9, span.attributes),
  ...(span.links ?? []).map(({ traceId, spanId }) => message(13, idField(1, traceId), idField(2, spanId))),
  ...(span.status === undefined
    ? []
    : [message(15, textField(2, span.status.message), numberField(3, span.status.code))]),
];

const resourceFields = ({ resource, scopeSpans }: ResourceSpans): Buffer[] => [
  message(1, ...attributes(1, resource.attributes)),
  ...scopeSpans.map(({ scope, spans }) =>
    message(2, message(1, textField(1, scope.name)), ...spans.map((span) => message(2, ...spanFields(span)))),
  ),
];

export const writeProtobuf = ({ resourceSpans }: OtlpMessage): Buffer =>
  Buffer.concat(resourceSpans.map((one) => message(1, ...resourceFields(one))));
