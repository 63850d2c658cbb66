import { expect, test } from "vitest";
import { type OtelSettings, readOtelSettings } from "./otel-settings.ts";

const ON = { OTEL_TRACES_EXPORTER: "otlp" };
const AT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318" };

test.each<[string, Record<string, string>]>([
  ["nothing", {}],
  ["a name alone", { OTEL_SERVICE_NAME: "x" }],
  ["a blank address", { OTEL_EXPORTER_OTLP_ENDPOINT: " " }],
  ["OTEL_SDK_DISABLED", { ...AT, OTEL_SDK_DISABLED: "True" }],
  ["OTEL_TRACES_EXPORTER none", { ...AT, OTEL_TRACES_EXPORTER: "none" }],
  ["OTEL_TRACES_SAMPLER always_off", { ...ON, OTEL_TRACES_SAMPLER: "parentbased_always_off" }],
])("[API-otel-1] %s: nothing is traced", (_, env) => {
  expect(readOtelSettings(env)).toBeUndefined();
});

const HTTPS = "https://collector.example/otlp/";
const TRACES_AT = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://localhost:9/mine" };
const HEADERS = { OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20x, tenant=a" };

// Every variable of docs/guides/observe.md, and which of two wins.
test.each<[Record<string, string>, Partial<OtelSettings>]>([
  [ON, { url: "http://localhost:4318/v1/traces", protocol: "http/protobuf", isGzipped: false, ratio: 1 }],
  [ON, { resource: { "service.name": "toolplane" }, headers: {}, timeoutMs: 10_000, delayMs: 5_000, maxQueue: 8_192 }],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: HTTPS }, { url: "https://collector.example/otlp/v1/traces" }],
  [{ ...AT, ...TRACES_AT }, { url: "http://localhost:9/mine" }],
  [{ ...ON, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" }, { protocol: "http/json" }],
  [{ ...ON, OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" }, { protocol: "http/protobuf" }],
  [
    { ...ON, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc", OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json" },
    { protocol: "http/json" },
  ],
  [{ ...ON, OTEL_EXPORTER_OTLP_COMPRESSION: "gzip" }, { isGzipped: true }],
  [
    { ...ON, OTEL_EXPORTER_OTLP_COMPRESSION: "gzip", OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: "none" },
    { isGzipped: false },
  ],
  [{ ...ON, ...HEADERS }, { headers: { authorization: "Bearer x", tenant: "a" } }],
  [
    { ...ON, ...HEADERS, OTEL_EXPORTER_OTLP_TRACES_HEADERS: "tenant=b" },
    { headers: { authorization: "Bearer x", tenant: "b" } },
  ],
  [{ ...ON, OTEL_SERVICE_NAME: "tools" }, { resource: { "service.name": "tools" } }],
  [
    { ...ON, OTEL_RESOURCE_ATTRIBUTES: "service.name=no,deployment.environment=test", OTEL_SERVICE_NAME: "tools" },
    { resource: { "service.name": "tools", "deployment.environment": "test" } },
  ],
  [{ ...ON, OTEL_RESOURCE_ATTRIBUTES: "service.name=yes" }, { resource: { "service.name": "yes" } }],
  [{ ...ON, OTEL_TRACES_SAMPLER: "always_on", OTEL_TRACES_SAMPLER_ARG: "0" }, { ratio: 1 }],
  [{ ...ON, OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.25" }, { ratio: 0.25 }],
  [{ ...ON, OTEL_EXPORTER_OTLP_TIMEOUT: "20" }, { timeoutMs: 20 }],
  [{ ...ON, OTEL_EXPORTER_OTLP_TIMEOUT: "20", OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: "30" }, { timeoutMs: 30 }],
  [
    {
      ...ON,
      ...{ OTEL_BSP_SCHEDULE_DELAY: "1", OTEL_BSP_MAX_QUEUE_SIZE: "10", OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "5" },
    },
    { delayMs: 1, maxQueue: 10, maxBatch: 5 },
  ],
  [{ ...AT, OTEL_SDK_DISABLED: "false" }, { url: "http://localhost:4318/v1/traces" }],
])("[API-otel-1] %o", (env, settings) => {
  expect(readOtelSettings(env)).toMatchObject(settings);
});

test.each<[Record<string, string>, string]>([
  [{ OTEL_TRACES_EXPORTER: "zipkin" }, "OTEL_TRACES_EXPORTER is otlp or none, not zipkin"],
  [
    { ...ON, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
    "OTEL_EXPORTER_OTLP_PROTOCOL is http/protobuf or http/json, which collectors take on port 4318, not grpc",
  ],
  [{ ...ON, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "grpc" }, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL is"],
  [{ ...ON, OTEL_EXPORTER_OTLP_COMPRESSION: "zstd" }, "OTEL_EXPORTER_OTLP_COMPRESSION is gzip or none, not zstd"],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "localhost" }, "OTEL_EXPORTER_OTLP_ENDPOINT is"],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "localhost" }, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is"],
  [{ ...ON, OTEL_EXPORTER_OTLP_CERTIFICATE: "/ca.pem" }, "OTEL_EXPORTER_OTLP_CERTIFICATE is not read"],
  [{ ...ON, OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: "/key" }, "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY is not read"],
  [{ ...ON, OTEL_TRACES_SAMPLER: "some" }, "OTEL_TRACES_SAMPLER is"],
  [{ ...ON, OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" }, "OTEL_TRACES_SAMPLER is"],
  [{ ...ON, OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: "0" }, "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT is"],
  [{ ...ON, OTEL_BSP_SCHEDULE_DELAY: "soon" }, "OTEL_BSP_SCHEDULE_DELAY is"],
  [{ ...ON, OTEL_RESOURCE_ATTRIBUTES: "nonsense" }, "OTEL_RESOURCE_ATTRIBUTES is"],
])("[API-otel-1] %o is refused by name", (env, words) => {
  expect(() => readOtelSettings(env)).toThrow(words);
});

test("a header that cannot be read is refused without its value", () => {
  const env = { ...ON, OTEL_EXPORTER_OTLP_HEADERS: "key=%zz-secret" };
  expect(() => readOtelSettings(env)).toThrow(/^(?!.*secret).*OTEL_EXPORTER_OTLP_HEADERS/);
});
