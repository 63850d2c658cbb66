// The entry of the NATS adapter: only programs that use it load the client library.

export { type BareMessage, type BareNats, openBareNats } from "./nats/bare.ts";
export type {
  GivenReply,
  InboundRequest,
  NatsLink,
  NatsOptions,
  NatsReply,
  NatsRequest,
  Responder,
} from "./nats/link.ts";
export { createNatsBus, type NatsBus, type NatsBusOptions } from "./nats/nats-bus.ts";
export { openNatsLink } from "./nats/open-link.ts";
