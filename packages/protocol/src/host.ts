// @toolplane/protocol/host: the lines of the NDJSON tool host protocol.

export {
  encodeHostCall,
  encodeHostEvent,
  encodeHostFailure,
  encodeHostRequest,
  encodeHostSuccess,
} from "./host/host-encode.ts";
export {
  agreedExtensions,
  HOST_EXTENSIONS,
  type HostExtension,
  type HostLog,
  LOG_LEVELS,
  readHostLog,
} from "./host/host-extensions.ts";
export {
  HOST_ERROR_TYPES,
  type HostFailure,
  type HostMessage,
  type HostRequest,
  type HostResponse,
  parseHostLine,
} from "./host/host-message.ts";
export {
  carriesState,
  type HostParams,
  methodNotFound,
  OPTIONAL_HOST_METHODS,
  parseHostParams,
  REQUIRED_HOST_METHODS,
} from "./host/host-methods.ts";
export {
  type FormattedResult,
  HOST_VALUES,
  initialState,
  isNotOffered,
  type PlainHostMethod,
  type PlainHostValue,
  parseHostValue,
  parseToolOutcome,
  readFormattedResult,
} from "./host/host-values.ts";
export {
  type HostTool,
  type HostTools,
  type RefusedHostTool,
  readHostTools,
} from "./host/tool-schemas.ts";
