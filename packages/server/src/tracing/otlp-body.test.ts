import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readOtelSettings } from "./otel-settings.ts";
import { otlpBody } from "./otlp-body.ts";
import { createSender } from "./otlp-exporter.ts";
import type { Span } from "./span.ts";

const CALL: Span = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  parentId: "00f067aa0ba902b7",
  name: "call echo",
  startMs: 1794850000123,
  endMs: 1794850000456.4,
  attributes: { text: "grüße", number: 1.5, whole: 300, less: -2, truth: true, nothing: undefined },
  link: "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203332-01",
  error: "tool_timeout",
};
const ROOT: Span = { ...CALL, parentId: undefined, link: undefined, error: undefined, attributes: {} };
const RESOURCE = { "service.name": "test" };

// What protobufjs makes of these two spans with the files of open-telemetry/opentelemetry-proto.
const PROTOBUF = [
  "CrcCChgKFgoMc2VydmljZS5uYW1lEgYKBHRlc3QSmgIKCwoJdG9vbHBsYW5lEs0BChAK92UZFs1D3YRI6yEcgDGcEgi3rWtxaSAz",
  "MSIIAPBnqgupArcqCWNhbGwgZWNobzABOcD0cMqQlugYQQAiSt6QlugYShEKBHRleHQSCQoHZ3LDvMOfZUoTCgZudW1iZXISCSEA",
  "AAAAAAD4P0oMCgV3aG9sZRIDGKwCShMKBGxlc3MSCxj+//////////8BSgsKBXRydXRoEgIQAWocChAK92UZFs1D3YRI6yEcgDGd",
  "Egi3rWtxaSAzMnoQEgx0b29sX3RpbWVvdXQYAhI7ChAK92UZFs1D3YRI6yEcgDGcEgi3rWtxaSAzMSoJY2FsbCBlY2hvMAE5wPRw",
  "ypCW6BhBACJK3pCW6Bg=",
].join("");

test("[API-otel-2] spans as protobuf are the bytes that the definitions of the standard make", () => {
  const body = otlpBody([CALL, ROOT], { resource: RESOURCE, protocol: "http/protobuf" });
  expect(body.toString("base64")).toBe(PROTOBUF);
});

let got: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer }[] = [];
const collector = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    got.push({ path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks) });
    if (request.headers.tenant !== "silent") response.writeHead(200).end();
  });
});
let origin: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
});
beforeEach(() => {
  got = [];
});
afterAll(async () => {
  collector.closeAllConnections();
  await new Promise((resolve) => collector.close(resolve));
});

const send = async (env: Record<string, string>): Promise<boolean> => {
  const settings = readOtelSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: origin, ...env });
  if (settings === undefined) expect.unreachable("traces are off");
  return createSender(settings)(otlpBody([CALL], settings), new AbortController().signal);
};

test.each<[Record<string, string>, string, string, string | undefined]>([
  [{}, "/v1/traces", "application/x-protobuf", undefined],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" }, "/v1/traces", "application/json", undefined],
  [{ OTEL_EXPORTER_OTLP_COMPRESSION: "gzip" }, "/v1/traces", "application/x-protobuf", "gzip"],
])("[API-otel-2] a collector gets what %o says", async (env, path, type, encoding) => {
  expect(await send({ ...env, OTEL_EXPORTER_OTLP_HEADERS: "tenant=a%20b", OTEL_SERVICE_NAME: "test" })).toBe(true);
  const [{ headers, body, path: asked } = expect.unreachable("nothing came")] = got;
  expect([asked, headers["content-type"], headers["content-encoding"]]).toEqual([path, type, encoding]);
  expect(headers.tenant).toBe("a b");
  const plain = encoding === "gzip" ? gunzipSync(body) : body;
  const protocol = type === "application/json" ? "http/json" : "http/protobuf";
  expect(plain).toEqual(otlpBody([CALL], { resource: RESOURCE, protocol }));
});

test("[API-otel-3] a collector has OTEL_EXPORTER_OTLP_TIMEOUT to answer", async () => {
  const sending = send({ OTEL_EXPORTER_OTLP_HEADERS: "tenant=silent", OTEL_EXPORTER_OTLP_TIMEOUT: "20" });
  await expect(sending).rejects.toMatchObject({ name: "TimeoutError" });
});
