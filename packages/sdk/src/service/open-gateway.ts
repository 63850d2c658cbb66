// Opens the gateway that the address asks for, HTTP or NATS. No other part of a service knows which one it is.

import { readFileSync } from "node:fs";
import { type TraceIds, UsageError } from "@toolplane/protocol";
import type { Patience, ToolGateway } from "../gateway/gateway.ts";
import { createHttpGateway } from "../http/http-gateway.ts";
import { type OpenNatsOptions, openNatsToolGateway } from "../nats/open-nats.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import { createScrubber, scrubLog } from "../secrets/scrubber.ts";
import type { ServiceSettings } from "./settings.ts";

export interface OpenGateway {
  readonly gateway: ToolGateway;
  close(): Promise<void>;
}

export interface OpenGatewayDeps {
  readonly holder: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: TraceIds;
  readonly log: Log;
  /** Where the plane is now, for a service that no person told where it is. */
  readonly find?: (() => string | undefined) | undefined;
  readonly openLink?: OpenNatsOptions["openLink"];
}

const CREDENTIALS = "TOOLPLANE_NATS_CREDENTIALS";
/** Lines of a credentials file that are at least this long hold secrets: a signed user and its key. */
const MIN_CREDENTIAL_LENGTH = 40;

const readCredentials = (path: string): string => {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new UsageError(`${CREDENTIALS} names ${path}, which cannot be read: give the path of a credentials file`, {
      cause,
    });
  }
  if (!text.includes("BEGIN NATS USER JWT") || !text.includes("BEGIN USER NKEY SEED")) {
    throw new UsageError(
      `${CREDENTIALS} names ${path}, which is not a NATS credentials file: it has no user and no key`,
    );
  }
  return text;
};

const secretLines = (credentials: string): [string, string][] =>
  credentials
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.length >= MIN_CREDENTIAL_LENGTH && !line.includes(" ") && !line.startsWith("-"))
    .map((line, index) => [index === 0 ? CREDENTIALS : `${CREDENTIALS}_${index + 1}`, line]);

export interface Connection {
  /** The text of the credentials file, when there is one. */
  readonly credentials: string | undefined;
  /** The service's own secrets, which must never be shown. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** Reads what the settings point to. */
export const readConnection = ({ token, nats }: ServiceSettings): Connection => {
  const credentials = nats?.credentials === undefined ? undefined : readCredentials(nats.credentials);
  return {
    credentials,
    secrets: new Map([
      ...(token === undefined ? [] : ([["TOOLPLANE_TOKEN", token]] as const)),
      ...(nats?.secrets ?? []),
      ...(credentials === undefined ? [] : secretLines(credentials)),
    ]),
  };
};

export const openGateway = async (
  settings: ServiceSettings,
  { credentials, secrets }: Connection,
  deps: OpenGatewayDeps,
  patience: Patience,
): Promise<OpenGateway> => {
  const { nats, projectId, target, url, token } = settings;
  if (nats === undefined) {
    const gateway = createHttpGateway({ ...deps, url, token, projectId, target });
    return { gateway, close: () => gateway.close() };
  }
  // A client library may throw anything.
  const log = scrubLog(deps.log, createScrubber(secrets));
  const { url: address, inboxPrefix } = nats;
  const actor = `tool.${target}`;
  return openNatsToolGateway({ ...deps, log, url: address, credentials, inboxPrefix, projectId, actor }, patience);
};
