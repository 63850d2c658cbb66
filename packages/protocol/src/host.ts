// @toolplane/protocol/host: the lines of the NDJSON tool host protocol.

export {
  encodeHostCall,
  encodeHostEvent,
  encodeHostFailure,
  encodeHostRequest,
  encodeHostSuccess,
  type HostCallParams,
} from "./host/host-encode.ts";
export {
  agreedExtensions,
  HOST_EXTENSIONS,
  type HostExtension,
  type HostLog,
  LOG_LEVELS,
  type LogLevel,
  readHostLog,
} from "./host/host-extensions.ts";
export {
  HOST_ERROR_TYPES,
  HOST_PROTOCOL_VERSION,
  type HostError,
  type HostEvent,
  type HostFailure,
  type HostMessage,
  type HostRequest,
  type HostResponse,
  type HostSuccess,
  parseHostLine,
  parseHostLineInTurns,
  tryParseHostLine,
} from "./host/host-message.ts";
export {
  carriesState,
  HOST_PARAMS,
  type HostMethod,
  type HostParams,
  isHostMethod,
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
  PROVIDER_NATIVE_FORMATS,
  PROVIDER_NATIVE_TYPE,
  type ProviderNativeFormat,
  parseHostValue,
  parseToolOutcome,
  readFormattedResult,
  type ToolOutcome,
} from "./host/host-values.ts";
export {
  type HostTool,
  type HostTools,
  type RefusedHostTool,
  readHostTool,
  readHostTools,
} from "./host/tool-schemas.ts";
