// The public face of @toolplane/bus: named exports only, one block per noun.

// the port
export type {
  Bus,
  BusMessage,
  BusStats,
  CarrierBus,
  CommandDurable,
  ConsumeOptions,
  Consumer,
  Delivery,
  DeliveryHandler,
  DrainOptions,
  FetchOptions,
  LostMessage,
  StreamItem,
} from "./bus.ts";

// what every adapter does the same way
export { checkMessage, checkStreamItem, MAX_MESSAGE_BYTES } from "./message.ts";
export { isNatsUrl, parseNatsAddress } from "./nats/address.ts";
