// The public face of @toolplane/bus: named exports only, one block per noun.

// the port
export {
  type Bus,
  type BusMessage,
  type BusStats,
  type CarrierBus,
  type CommandDurable,
  type ConsumeOptions,
  type Consumer,
  DEFAULT_DRAIN_MS,
  type Delivery,
  type DeliveryHandler,
  type DrainOptions,
  type FetchOptions,
  type LostMessage,
  type StreamItem,
} from "./bus.ts";

// what every adapter does the same way
export { type BusCounters, createBusCounters } from "./bus-counters.ts";
export { type ConsumePlan, planBackoff, planConsume, planDelay } from "./consume-plan.ts";
export { checkMessage, checkStreamItem, MAX_MESSAGE_BYTES } from "./message.ts";
export { isNatsUrl, parseNatsAddress } from "./nats/address.ts";
