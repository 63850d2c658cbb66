// A gateway with a connection of its own. The NATS client library is imported here and only here, so a service over HTTP never
// loads it.

import type { NatsLink, NatsOptions } from "@toolplane/bus/nats";
import type { Patience, ToolGateway } from "../gateway/gateway.ts";
import { withPatience } from "../gateway/patience.ts";
import type { Log } from "../ports/log.ts";
import { createNatsToolGateway, type NatsToolGatewayOptions } from "./nats-tool-gateway.ts";

export interface OpenNatsOptions extends Omit<NatsToolGatewayOptions, "link"> {
  /** One address or several, separated by commas; may carry user and password. */
  readonly url: string;
  /** The text of a credentials file. */
  readonly credentials?: string | undefined;
  readonly inboxPrefix?: string | undefined;
  /** Another way to connect than the client library. */
  readonly openLink?: ((options: NatsOptions, deps: { readonly log: Log }) => Promise<NatsLink>) | undefined;
}

export interface OpenNatsGateway extends AsyncDisposable {
  readonly gateway: ToolGateway;
  readonly link: NatsLink;
  close(): Promise<void>;
}

const loadLink = async (options: NatsOptions, deps: { readonly log: Log }): Promise<NatsLink> => {
  const { openNatsLink } = await import("@toolplane/bus/nats");
  return openNatsLink(options, deps);
};

/** With patience it waits for a server that is not there yet. */
export const openNatsToolGateway = async (
  options: OpenNatsOptions,
  patience: Patience = {},
): Promise<OpenNatsGateway> => {
  const { url, credentials, inboxPrefix, actor, holder, clock, random, log, openLink = loadLink } = options;
  const link = await withPatience({ clock, random }, patience, () =>
    openLink({ url, name: holder ?? actor, credentials, inboxPrefix }, { log }),
  );
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= link.close();
    return closing;
  };
  return { gateway: createNatsToolGateway({ ...options, link }), link, close, [Symbol.asyncDispose]: close };
};
