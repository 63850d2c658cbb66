// The public face of @toolplane/protocol: named exports only, one block per noun.

// errors
export {
  ERROR_CODES,
  ERROR_TABLE,
  type ErrorCode,
  type ErrorEntry,
  isErrorCode,
  type RetryAdvice,
} from "./errors/error-table.ts";
export {
  type ErrorDetail,
  isToolplaneError,
  ToolplaneError,
  type ToolplaneErrorOptions,
  UsageError,
  violation,
  type WireError,
} from "./errors/toolplane-error.ts";
