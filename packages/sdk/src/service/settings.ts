// Where a service connects, from its options and the environment. A mistake is one sentence that says what to change.

import { isHeaderText, isToken, UsageError } from "@toolplane/protocol";

export interface ServiceSettingsInput {
  readonly target: string;
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly project?: string | undefined;
  readonly concurrency?: number | undefined;
}

export interface ServiceSettings {
  readonly target: string;
  readonly url: string;
  readonly token: string | undefined;
  readonly projectId: string;
  readonly concurrency: number;
}

const DEFAULT_URL = "http://127.0.0.1:7420";
const DEFAULT_PROJECT = "demo";
/** Tools mostly wait for something else; a few at once keep a process busy without surprising its author. */
const DEFAULT_CONCURRENCY = 8;
const MAX_CONCURRENCY = 1_000;

const filled = (...values: readonly (string | undefined)[]): string | undefined =>
  values.map((value) => value?.trim()).find((value) => value !== undefined && value !== "");

const parseUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new UsageError(`TOOLPLANE_URL must be an http or https address such as ${DEFAULT_URL}`);
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new UsageError(
      "TOOLPLANE_URL must not carry a user, a password, a query or a fragment; the token is TOOLPLANE_TOKEN",
    );
  }
  return url.href.endsWith("/") ? url.href.slice(0, -1) : url.href;
};

const parseName = (value: string, name: string): string => {
  if (!isToken(value)) throw new UsageError(`${name} must be made of the characters A-Z a-z 0-9 _ -`);
  return value;
};

const parseConcurrency = (value: number): number => {
  if (Number.isInteger(value) && value >= 1 && value <= MAX_CONCURRENCY) return value;
  throw new UsageError(`concurrency must be a whole number from 1 to ${MAX_CONCURRENCY}`);
};

export const planSettings = (
  input: ServiceSettingsInput,
  env: Readonly<Record<string, string | undefined>>,
): ServiceSettings => {
  const token = filled(input.token, env.TOOLPLANE_TOKEN);
  if (token !== undefined && !isHeaderText(token)) throw new UsageError("the token has characters no token has");
  return {
    target: parseName(input.target, "target"),
    url: parseUrl(filled(input.url, env.TOOLPLANE_URL) ?? DEFAULT_URL),
    token,
    projectId: parseName(filled(input.project, env.TOOLPLANE_PROJECT) ?? DEFAULT_PROJECT, "project"),
    concurrency: parseConcurrency(input.concurrency ?? DEFAULT_CONCURRENCY),
  };
};
