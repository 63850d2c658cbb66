// What a route needs to take a webhook: which addresses the operator allows, and the key for its secret. Off by default: without
// allowed hosts no webhook can be made.

import { type AllowedOrigin, createPolicy, planTarget } from "@toolplane/egress/policy";
import { WEBHOOK_EVENTS } from "@toolplane/engine";
import { isToolplaneError, showName, ToolplaneError } from "@toolplane/protocol";
import { signingKey } from "./sign-delivery.ts";
import type { Sealed, WebhookKey } from "./webhook-key.ts";

export interface AskedWebhook {
  readonly url: string;
  readonly secret: string;
  readonly events: readonly string[];
}

export interface AcceptedWebhook extends Sealed {
  readonly webhookId: string;
  readonly url: string;
  readonly events: readonly string[];
}

export interface WebhookDoor {
  /** Checks the address and the events, and seals the secret under the webhook's id. */
  accept(projectId: string, asked: AskedWebhook): AcceptedWebhook;
}

export interface WebhookDoorOptions {
  /** Patterns of host names; empty: webhooks are off. */
  readonly hosts: readonly string[];
  readonly allow: readonly AllowedOrigin[];
  readonly key: () => WebhookKey;
  readonly newId: () => string;
}

const KNOWN: ReadonlySet<string> = new Set([...WEBHOOK_EVENTS, "*", "call.*", "turn.*"]);
/** In bytes: a shorter secret could be found by trying. */
const LEAST_SECRET = 16;

/** The name under which a secret is sealed. */
export const sealName = (projectId: string, webhookId: string): string => `${projectId}/${webhookId}`;

const refuse = (message: string): ToolplaneError => new ToolplaneError("bad_request", message);

export const webhooksAreOff = (): ToolplaneError =>
  new ToolplaneError(
    "auth_failed",
    "webhooks are off: the operator of the plane has not listed the hosts they may reach",
    { detail: { todo: 'list them, as in webhooks.allow_hosts: ["hooks.example.com"] of toolplane.yaml' } },
  );

/** Adds to a refusal where the host must be listed: in `webhooks.allow_hosts`, and a local, plain-http or other-port host in `egress.allow` too. */
const withWebhookAdvice = <Value>(work: () => Value): Value => {
  try {
    return work();
  } catch (error) {
    if (!isToolplaneError(error) || error.code !== "auth_failed" || error.detail?.todo !== undefined) throw error;
    const todo = "the operator of the plane adds the host to webhooks.allow_hosts in toolplane.yaml";
    throw new ToolplaneError(error.code, error.message, { detail: { ...error.detail, todo }, cause: error });
  }
};

export const createWebhookDoor = ({ hosts, allow, key, newId }: WebhookDoorOptions): WebhookDoor => {
  const policy = createPolicy({ hosts, allow });
  return {
    accept(projectId, { url, secret, events }) {
      if (hosts.length === 0) throw webhooksAreOff();
      const target = withWebhookAdvice(() => planTarget(url, policy));
      if (target.url.hash !== "") throw refuse("the address of a webhook has no part after #");
      if (signingKey(secret).length < LEAST_SECRET)
        throw refuse(`the secret of a webhook has ${LEAST_SECRET} or more bytes, behind whsec_ as base64`);
      const unknown = events.find((event) => !KNOWN.has(event));
      if (unknown !== undefined)
        throw refuse(`there is no event ${showName(unknown)}; there are ${[...KNOWN].join(", ")}`);
      const webhookId = newId();
      return { webhookId, url: target.url.href, events, ...key().seal(secret, sealName(projectId, webhookId)) };
    },
  };
};
