// Where a service connects, from its options and the environment. A mistake is one sentence that says what to change.

import { isNatsUrl } from "@toolplane/bus";
import { isHeaderText, isToken, UsageError } from "@toolplane/protocol";
import { type NatsSettings, planNatsSettings } from "./nats-settings.ts";

export interface ServiceSettingsInput {
  readonly target: string;
  /** `http(s)://` or `nats://`, `tls://`; several NATS servers are separated by commas. */
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly project?: string | undefined;
  readonly concurrency?: number | undefined;
  /** The path of a NATS credentials file. */
  readonly natsCredentials?: string | undefined;
  /** The inbox for answers over NATS; needed when the NATS user may not use the default one. */
  readonly natsInbox?: string | undefined;
}

export interface ServiceSettings {
  readonly target: string;
  /** As it may be shown: without user and password. */
  readonly url: string;
  readonly token: string | undefined;
  readonly projectId: string;
  readonly concurrency: number;
  /** Set when the address is one of NATS. */
  readonly nats?: NatsSettings;
}

const DEFAULT_URL = "http://127.0.0.1:7420";
const DEFAULT_PROJECT = "demo";
/** Tools mostly wait for other systems; a few at once keep a process busy without surprising its author. */
const DEFAULT_CONCURRENCY = 8;
const MAX_CONCURRENCY = 1_000;

const filled = (...values: readonly (string | undefined)[]): string | undefined =>
  values.map((value) => value?.trim()).find((value) => value !== undefined && value !== "");

/** `said`: the option or variable that the reader has to change. */
const parseUrl = (text: string, said: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new UsageError(
      `${said} must be an http or https address such as ${DEFAULT_URL}, or a NATS address such as nats://127.0.0.1:4222`,
    );
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new UsageError(
      `${said} must not carry a user, a password, a query or a fragment; give the token as token, or in TOOLPLANE_TOKEN`,
    );
  }
  return url.href.endsWith("/") ? url.href.slice(0, -1) : url.href;
};

const planPlace = (
  text: string,
  input: ServiceSettingsInput,
  env: Readonly<Record<string, string | undefined>>,
): Pick<ServiceSettings, "url" | "nats"> => {
  if (!isNatsUrl(text)) return { url: parseUrl(text, filled(input.url) === undefined ? "TOOLPLANE_URL" : "url") };
  const credentials = filled(input.natsCredentials, env.TOOLPLANE_NATS_CREDENTIALS);
  const inbox = filled(input.natsInbox, env.TOOLPLANE_NATS_INBOX);
  const { shown, nats } = planNatsSettings({ url: text, credentials, inbox });
  return { url: shown, nats };
};

const parseName = (value: string, name: string): string => {
  if (!isToken(value)) throw new UsageError(`${name} must be made of the characters A-Z a-z 0-9 _ -`);
  return value;
};

const parseConcurrency = (value: number): number => {
  if (Number.isInteger(value) && value >= 1 && value <= MAX_CONCURRENCY) return value;
  throw new UsageError(`concurrency must be a whole number from 1 to ${MAX_CONCURRENCY}`);
};

/** Whether a person said where the plane is. If not, a service follows the plane beside it to another port. */
export const isPlaneNamed = (
  input: Pick<ServiceSettingsInput, "url">,
  env: Readonly<Record<string, string | undefined>>,
): boolean => filled(input.url, env.TOOLPLANE_URL) !== undefined;

/** `beside`: where the plane of the data directory beside this program listens, if there is one. */
export const planSettings = (
  input: ServiceSettingsInput,
  env: Readonly<Record<string, string | undefined>>,
  beside?: string | undefined,
): ServiceSettings => {
  const token = filled(input.token, env.TOOLPLANE_TOKEN);
  if (token !== undefined && !isHeaderText(token))
    throw new UsageError("the token has characters that no token can have; check the option token, or TOOLPLANE_TOKEN");
  return {
    target: parseName(input.target, "target"),
    ...planPlace(filled(input.url, env.TOOLPLANE_URL, beside) ?? DEFAULT_URL, input, env),
    token,
    projectId: parseName(filled(input.project, env.TOOLPLANE_PROJECT) ?? DEFAULT_PROJECT, "project"),
    concurrency: parseConcurrency(input.concurrency ?? DEFAULT_CONCURRENCY),
  };
};
