// The standard OTEL_* variables, as far as they mean something here. Nothing is sent unless an endpoint or the exporter is named.

import { refuseConfig } from "../config/refuse.ts";

const PROTOCOLS = ["http/protobuf", "http/json"] as const;
export type OtlpProtocol = (typeof PROTOCOLS)[number];

export interface OtelSettings {
  readonly url: string;
  /** How spans are written: the standard's default, or JSON. */
  readonly protocol: OtlpProtocol;
  readonly isGzipped: boolean;
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

/** A variable of traces alone comes before the one for every signal. */
const otlpNames = (what: string): readonly string[] => [
  `OTEL_EXPORTER_OTLP_TRACES_${what}`,
  `OTEL_EXPORTER_OTLP_${what}`,
];

/** The first of these variables that is set. */
const firstOf = (env: Env, names: readonly string[]): { readonly name: string; readonly text: string } | undefined => {
  for (const name of names) {
    const text = filled(env[name]);
    if (text !== undefined) return { name, text };
  }
  return undefined;
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
  const given = firstOf(env, otlpNames("ENDPOINT")) ?? {
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    text: DEFAULT_ENDPOINT,
  };
  const isWhole = given.name === "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
  const url = URL.parse(isWhole ? given.text : `${given.text.replace(/\/$/, "")}/v1/traces`);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw refuseConfig(`${given.name} is an address such as ${DEFAULT_ENDPOINT}${isWhole ? "/v1/traces" : ""}`);
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

const protocolOf = (env: Env): OtlpProtocol => {
  const { name, text } = firstOf(env, otlpNames("PROTOCOL")) ?? { name: "", text: PROTOCOLS[0] };
  const protocol = PROTOCOLS.find((one) => one === text);
  if (protocol === undefined)
    throw refuseConfig(`${name} is ${PROTOCOLS.join(" or ")}, which collectors take on port 4318, not ${text}`);
  return protocol;
};

const isGzipped = (env: Env): boolean => {
  const { name, text } = firstOf(env, otlpNames("COMPRESSION")) ?? { name: "", text: "none" };
  if (text !== "gzip" && text !== "none") throw refuseConfig(`${name} is gzip or none, not ${text}`);
  return text === "gzip";
};

/** Files of certificates: a variable that was ignored would leave the connection less safe than its operator believes. */
const refuseFiles = (env: Env): void => {
  const given = firstOf(env, ["CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"].flatMap(otlpNames));
  if (given !== undefined)
    throw refuseConfig(`${given.name} is not read here; NODE_EXTRA_CA_CERTS names further authorities to trust`);
};

/** Undefined: nothing is traced. */
export const readOtelSettings = (env: Env): OtelSettings | undefined => {
  if (!isOn(env)) return undefined;
  refuseFiles(env);
  const protocol = protocolOf(env);
  const ratio = parseRatio(env);
  if (ratio === 0) return undefined;
  const service = filled(env.OTEL_SERVICE_NAME);
  return {
    url: urlOf(env),
    protocol,
    isGzipped: isGzipped(env),
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
    timeoutMs: readNumber(env, firstOf(env, otlpNames("TIMEOUT"))?.name ?? "OTEL_EXPORTER_OTLP_TIMEOUT", 10_000),
    delayMs: readNumber(env, "OTEL_BSP_SCHEDULE_DELAY", 5_000),
    maxQueue: readNumber(env, "OTEL_BSP_MAX_QUEUE_SIZE", 8_192),
    maxBatch: readNumber(env, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512),
  };
};
