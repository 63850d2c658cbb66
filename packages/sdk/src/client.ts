// @toolplane/sdk/client: for programs that call tools and run agents.

export { type ErrorCode, isToolplaneError, type JsonValue, ToolplaneError, UsageError } from "@toolplane/protocol";
export { type Api, type ApiHints, type ApiOptions, type ApiRequest, createApi, pathOf } from "./client/api.ts";
export { isOver, resultOf } from "./client/call-outcome.ts";
export { type ApiPlaneOptions, type ConnectOptions, connect, createApiPlane, createKeys } from "./client/connect.ts";
export { readEvents } from "./client/event-stream.ts";
export type { PlaneEvent } from "./client/events.ts";
export { asBadRequest, refuseKeys } from "./client/given-options.ts";
export type { PlaneOptions } from "./client/means.ts";
export {
  type CallOptions,
  createPlane,
  type EventOptions,
  type ManyCall,
  type Outcome,
  type Plane,
  type WaitOptions,
} from "./client/plane.ts";
export type { AiTool, AnthropicTool, ListedTool, OpenAiTool, ToolList } from "./client/tool-list.ts";
export type { RunningTurn, RunOptions, TurnEvent } from "./client/turn.ts";
export {
  type Body,
  type CallAsk,
  jsonOf,
  type RawEvent,
  type TurnAsk,
  type TurnBudget,
  type Way,
} from "./client/way.ts";
export { createHttpPool, type HttpPool, type PoolAnswer, type PoolRequest, type SendRequest } from "./http/pool.ts";
