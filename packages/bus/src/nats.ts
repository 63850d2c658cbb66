// The NATS adapter's own door: only who uses it loads the client library.

export type {
  InboundRequest,
  NatsLink,
  NatsOptions,
  NatsReply,
  NatsRequest,
  RequestOptions,
  Responder,
} from "./nats/link.ts";
