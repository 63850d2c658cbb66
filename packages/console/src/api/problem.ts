// What went wrong with a request, in words a person can act on. Callers branch on the code.

export class ApiProblem extends Error {
  readonly code: string;
  readonly status: number;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly retryable: boolean;

  constructor(options: {
    readonly code: string;
    readonly message: string;
    readonly status: number;
    readonly detail?: Readonly<Record<string, unknown>> | undefined;
    readonly retryable?: boolean | undefined;
  }) {
    super(options.message);
    this.name = "ApiProblem";
    this.code = options.code;
    this.status = options.status;
    this.detail = options.detail ?? {};
    this.retryable = options.retryable ?? false;
  }
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The server could not be asked at all. */
export const awayProblem = (): ApiProblem =>
  new ApiProblem({
    code: "server_away",
    message: "The server does not answer.",
    status: 0,
    retryable: true,
  });

/** Reads the API's one error shape; anything else (a proxy's page) is told by its status. */
export const parseProblem = (status: number, text: string): ApiProblem => {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const error = isRecord(body) && isRecord(body.error) ? body.error : {};
  return new ApiProblem({
    code: typeof error.code === "string" ? error.code : `http_${status}`,
    message: typeof error.message === "string" ? error.message : `The server answered with the status ${status}.`,
    status,
    detail: isRecord(error.detail) ? error.detail : undefined,
    retryable: error.retryable === true,
  });
};

export const toProblem = (thrown: unknown): ApiProblem =>
  thrown instanceof ApiProblem
    ? thrown
    : new ApiProblem({
        code: "console_error",
        message: thrown instanceof Error ? thrown.message : String(thrown),
        status: 0,
      });

const ADVICE: Readonly<Record<string, string>> = {
  server_away: "The console tries again by itself. See that the server runs: toolplane up",
  unauthorized: "Log in again, with the link that `toolplane up` prints or with a token.",
  auth_failed: "Log in with a token that may do this, or ask an administrator for one.",
  not_found: "It may have been deleted, or it belongs to another project.",
  rate_limited: "Wait a moment, then try again.",
  payload_too_large: "Send less at once.",
  storage_error: "The database does not answer. Look at the health of the plane, then try again.",
  conflict: "Somebody else changed it meanwhile. Load it again.",
  already_settled: "The call was over before. Load it again.",
  breaker_open: "The tool failed too often and rests for a while. Look at its errors before you try again.",
};

/** What to do next: the server's own advice when it gives one. */
export const adviceFor = ({ code, detail, status }: Pick<ApiProblem, "code" | "detail" | "status">): string => {
  if (typeof detail.todo === "string") return detail.todo;
  return ADVICE[code] ?? (status >= 500 ? "Try again; if it stays, look at the log of the server." : "");
};
