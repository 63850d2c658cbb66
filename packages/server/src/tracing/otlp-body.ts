// Spans as the body of an OTLP/HTTP request: the message of the standard, written as protobuf or as JSON.

import { tryParseTraceparent } from "@toolplane/protocol";
import type { OtelSettings } from "./otel-settings.ts";
import { type OtlpAttribute, type OtlpMessage, type OtlpSpan, type OtlpValue, writeProtobuf } from "./otlp-protobuf.ts";
import type { AttributeValue, Span } from "./span.ts";

const SPAN_KIND_INTERNAL = 1;
const STATUS_ERROR = 2;
const NANOS_PER_MS = 1_000_000n;

const anyValueOf = (value: AttributeValue): OtlpValue => {
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "string") return { stringValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
};

const attributesOf = (attributes: Span["attributes"]): OtlpAttribute[] =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined || value === null ? [] : [{ key, value: anyValueOf(value) }],
  );

const nanos = (ms: number): string => String(BigInt(Math.max(Math.round(ms), 0)) * NANOS_PER_MS);

const linksOf = (link: string | undefined) => {
  const parsed = tryParseTraceparent(link);
  return parsed === undefined ? {} : { links: [{ traceId: parsed.traceId, spanId: parsed.spanId }] };
};

const spanOf = (span: Span): OtlpSpan => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentId === undefined ? {} : { parentSpanId: span.parentId }),
  name: span.name,
  kind: SPAN_KIND_INTERNAL,
  startTimeUnixNano: nanos(span.startMs),
  endTimeUnixNano: nanos(Math.max(span.endMs, span.startMs)),
  attributes: attributesOf(span.attributes),
  ...linksOf(span.link),
  ...(span.error === undefined ? {} : { status: { code: STATUS_ERROR, message: span.error } }),
});

const messageOf = (spans: readonly Span[], resource: OtelSettings["resource"]): OtlpMessage => ({
  resourceSpans: [
    {
      resource: { attributes: attributesOf(resource) },
      scopeSpans: [{ scope: { name: "toolplane" }, spans: spans.map(spanOf) }],
    },
  ],
});

export const otlpBody = (
  spans: readonly Span[],
  { resource, protocol }: Pick<OtelSettings, "resource" | "protocol">,
): Buffer => {
  const message = messageOf(spans, resource);
  return protocol === "http/json" ? Buffer.from(JSON.stringify(message)) : writeProtobuf(message);
};
