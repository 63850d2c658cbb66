// What a committed step is answered with, as it is stored: the same step asked for again gets the same answer (T4).

import { isErrorCode, ToolplaneError } from "@toolplane/protocol";
import type { CommittedCall, CommittedStep } from "./turn.ts";

export const storedOutcome = (step: CommittedStep): string =>
  JSON.stringify({
    ...step,
    calls: step.calls.map(({ refusal, ...call }) => ({
      ...call,
      ...(refusal === undefined ? {} : { refusal: { code: refusal.code, message: refusal.message } }),
    })),
  });

interface StoredCall extends Omit<CommittedCall, "refusal"> {
  readonly refusal?: { readonly code: string; readonly message: string };
}

export const readOutcome = (text: string): CommittedStep => {
  const stored = JSON.parse(text) as Omit<CommittedStep, "calls"> & { readonly calls: readonly StoredCall[] };
  return {
    ...stored,
    calls: stored.calls.map(({ refusal, ...call }) =>
      refusal === undefined
        ? call
        : {
            ...call,
            refusal: new ToolplaneError(isErrorCode(refusal.code) ? refusal.code : "internal_error", refusal.message),
          },
    ),
  };
};
