// Where a service connects when it speaks NATS: the addresses with or without a user, and what of them is secret.
// I8. User and password are in the address alone; people are shown the address without them.

import { parseNatsAddress } from "@toolplane/bus";
import { isToken, UsageError } from "@toolplane/protocol";

export interface NatsSettings {
  /** One address or several, separated by commas, as the client takes them. */
  readonly url: string;
  /** The path of a credentials file. */
  readonly credentials: string | undefined;
  readonly inboxPrefix: string | undefined;
  /** Values that no result and no log may show, by the name of the setting they came from. */
  readonly secrets: ReadonlyMap<string, string>;
}

const URL_NAME = "TOOLPLANE_URL";

const parseInbox = (text: string | undefined): string | undefined => {
  if (text !== undefined && !text.split(".").every(isToken)) {
    throw new UsageError(
      "TOOLPLANE_NATS_INBOX must be a subject such as _INBOX_text: A-Z a-z 0-9 _ - and dots, without wildcards",
    );
  }
  return text;
};

export interface NatsInput {
  readonly url: string;
  readonly credentials: string | undefined;
  readonly inbox: string | undefined;
}

export const planNatsSettings = ({ url, credentials, inbox }: NatsInput): { shown: string; nats: NatsSettings } => {
  const address = parseNatsAddress(url, URL_NAME);
  const secret = address.password ?? address.token;
  if ((secret ?? address.user) !== undefined && credentials !== undefined) {
    throw new UsageError("give either a user in TOOLPLANE_URL or TOOLPLANE_NATS_CREDENTIALS, not both");
  }
  return {
    shown: address.shown,
    nats: {
      url: address.url,
      credentials,
      inboxPrefix: parseInbox(inbox),
      secrets: secret === undefined ? new Map() : new Map([[URL_NAME, secret]]),
    },
  };
};
