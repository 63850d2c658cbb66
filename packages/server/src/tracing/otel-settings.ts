// The standard OTEL_* variables, as far as they mean something here. Nothing is sent unless an endpoint or the exporter is named.

import { refuseConfig } from "../config/refuse.ts";

export interface OtelSettings {
  readonly url: string;
  /** May hold credentials: never logged. */
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, string>>;
  /** The share of traces that is sent, 0 to 1. */
  readonly ratio: number;
  readonly timeoutMs: number;
  readonly delayMs: number;
  readonly maxQueue: number;
  readonly maxBatch: number;
}

type Env = Readonly<Record<string, string | undefined>>;

const DEFAULT_ENDPOINT = "http://localhost:4318";

const filled = (text: string | undefined): string | undefined => {
  const trimmed = text?.trim() ?? "";
  return trimmed === "" ? undefined : trimmed;
};

/** `key=value,key2=value2`, with percent-encoded values. */
const parsePairs = (name: string, text: string | undefined): Readonly<Record<string, string>> => {
  const pairs = (filled(text) ?? "").split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      try {
        if (at > 0) return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
      } catch {
        // Reported below, without the value.
      }
      throw refuseConfig(`${name} is a list such as key=value,other=value`);
    }),
  );
};

const readNumber = (env: Env, name: string, fallback: number): number => {
  const text = filled(env[name]);
  const value = Number(text ?? fallback);
  if (!Number.isInteger(value) || value < 1) throw refuseConfig(`${name} is a whole number above 0, not ${text}`);
  return value;
};

const parseRatio = (env: Env): number => {
  const sampler = filled(env.OTEL_TRACES_SAMPLER) ?? "parentbased_always_on";
  const kind = sampler.replace(/^parentbased_/, "");
  if (kind === "always_on") return 1;
  if (kind === "always_off") return 0;
  const ratio = Number(filled(env.OTEL_TRACES_SAMPLER_ARG) ?? 1);
  if (kind === "traceidratio" && ratio >= 0 && ratio <= 1) return ratio;
  throw refuseConfig(
    "OTEL_TRACES_SAMPLER is always_on, always_off or traceidratio (with OTEL_TRACES_SAMPLER_ARG from 0 to 1), also with parentbased_ before it",
  );
};

const urlOf = (env: Env): string => {
  const own = filled(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT);
  const base = filled(env.OTEL_EXPORTER_OTLP_ENDPOINT) ?? DEFAULT_ENDPOINT;
  const url = URL.parse(own ?? `${base.replace(/\/$/, "")}/v1/traces`);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw refuseConfig(`OTEL_EXPORTER_OTLP_ENDPOINT is an address such as ${DEFAULT_ENDPOINT}`);
  return url.href;
};

const isOn = (env: Env): boolean => {
  if (filled(env.OTEL_SDK_DISABLED)?.toLowerCase() === "true") return false;
  const exporter = filled(env.OTEL_TRACES_EXPORTER);
  if (exporter === "none") return false;
  if (exporter !== undefined && exporter !== "otlp")
    throw refuseConfig(`OTEL_TRACES_EXPORTER is otlp or none, not ${exporter}`);
  return (
    exporter === "otlp" ||
    filled(env.OTEL_EXPORTER_OTLP_ENDPOINT) !== undefined ||
    filled(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) !== undefined
  );
};

const checkProtocol = (env: Env): void => {
  const protocol = filled(env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL) ?? filled(env.OTEL_EXPORTER_OTLP_PROTOCOL);
  if (protocol !== undefined && protocol !== "http/json")
    throw refuseConfig(
      `OTEL_EXPORTER_OTLP_PROTOCOL is http/json here, not ${protocol}; collectors take it on port 4318`,
    );
};

/** Undefined: nothing is traced. */
export const readOtelSettings = (env: Env): OtelSettings | undefined => {
  if (!isOn(env)) return undefined;
  checkProtocol(env);
  const ratio = parseRatio(env);
  if (ratio === 0) return undefined;
  const service = filled(env.OTEL_SERVICE_NAME);
  return {
    url: urlOf(env),
    headers: {
      ...parsePairs("OTEL_EXPORTER_OTLP_HEADERS", env.OTEL_EXPORTER_OTLP_HEADERS),
      ...parsePairs("OTEL_EXPORTER_OTLP_TRACES_HEADERS", env.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
    },
    resource: {
      "service.name": "toolplane",
      ...parsePairs("OTEL_RESOURCE_ATTRIBUTES", env.OTEL_RESOURCE_ATTRIBUTES),
      ...(service === undefined ? {} : { "service.name": service }),
    },
    ratio,
    timeoutMs: readNumber(env, "OTEL_EXPORTER_OTLP_TIMEOUT", 10_000),
    delayMs: readNumber(env, "OTEL_BSP_SCHEDULE_DELAY", 5_000),
    maxQueue: readNumber(env, "OTEL_BSP_MAX_QUEUE_SIZE", 8_192),
    maxBatch: readNumber(env, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512),
  };
};
