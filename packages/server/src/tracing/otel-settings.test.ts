import { expect, test } from "vitest";
import { readOtelSettings } from "./otel-settings.ts";

test("[API-otel-1] nothing is traced unless it is asked for", () => {
  for (const env of [
    {},
    { OTEL_SERVICE_NAME: "x" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: " " },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318", OTEL_SDK_DISABLED: "true" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318", OTEL_TRACES_EXPORTER: "none" },
    { OTEL_TRACES_EXPORTER: "otlp", OTEL_TRACES_SAMPLER: "always_off" },
  ])
    expect(readOtelSettings(env)).toBeUndefined();
});

test("[API-otel-1] the standard variables say where, as what and how much", () => {
  expect(readOtelSettings({ OTEL_TRACES_EXPORTER: "otlp" })).toMatchObject({
    url: "http://localhost:4318/v1/traces",
    resource: { "service.name": "toolplane" },
    ratio: 1,
  });
  expect(
    readOtelSettings({
      OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.example/otlp/",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20x",
      OTEL_SERVICE_NAME: "tools",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
      OTEL_BSP_MAX_QUEUE_SIZE: "10",
    }),
  ).toMatchObject({
    url: "https://collector.example/otlp/v1/traces",
    headers: { authorization: "Bearer x" },
    resource: { "service.name": "tools", "deployment.environment": "test" },
    ratio: 0.25,
    maxQueue: 10,
  });
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://localhost:9/mine" };
  expect(readOtelSettings(own)?.url).toBe("http://localhost:9/mine");
});

test.each<[Record<string, string>, string]>([
  [{ OTEL_TRACES_EXPORTER: "zipkin" }, "OTEL_TRACES_EXPORTER"],
  [{ OTEL_TRACES_EXPORTER: "otlp", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, "OTEL_EXPORTER_OTLP_PROTOCOL"],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "localhost" }, "OTEL_EXPORTER_OTLP_ENDPOINT"],
  [{ OTEL_TRACES_EXPORTER: "otlp", OTEL_TRACES_SAMPLER: "some" }, "OTEL_TRACES_SAMPLER"],
  [{ OTEL_TRACES_EXPORTER: "otlp", OTEL_BSP_SCHEDULE_DELAY: "soon" }, "OTEL_BSP_SCHEDULE_DELAY"],
])("[API-otel-1] %o is refused by name", (env, name) => {
  expect(() => readOtelSettings(env)).toThrow(name);
});

test("a header that cannot be read is refused without its value", () => {
  const env = { OTEL_TRACES_EXPORTER: "otlp", OTEL_EXPORTER_OTLP_HEADERS: "key=%zz-secret" };
  expect(() => readOtelSettings(env)).toThrow(/^(?!.*secret).*OTEL_EXPORTER_OTLP_HEADERS/);
});
