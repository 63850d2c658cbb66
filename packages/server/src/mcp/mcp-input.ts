// A tool that needs an answer before it can go on. It answers with questions instead of a result (`__cg_input`), and the call is
// over; the answers come as an argument of a new call. So a question waits in the database, not in a process. Pure.
//   - The parameter for the answers is named by `options.input`; no model and no client sees it.
//   - `state` is the tool's own note between the rounds. It never leaves the plane: a client gets the id of the call that asked.

import type { ToolResultContent } from "@toolplane/protocol";
import { isRecord, type JsonObject, type JsonValue } from "@toolplane/protocol";
import { z } from "zod";

const INPUT_KEY = "__cg_input";

const CAPABILITIES = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
} as const;

const question = z.object({
  method: z.enum(["elicitation/create", "sampling/createMessage", "roots/list"]),
  params: z.record(z.string(), z.json()).optional(),
});

const questions = z.object({
  requests: z.record(z.string().min(1).max(128), question),
  state: z.json().optional(),
});

export type Question = z.infer<typeof question>;

export interface Questions {
  readonly requests: Readonly<Record<string, Question>>;
  readonly state?: JsonValue | undefined;
}

/** What a settled call asks, if it asks something. */
export const readQuestions = (
  content: Pick<ToolResultContent, "status" | "result"> | undefined,
): Questions | undefined => {
  if (content?.status !== "success" || !isRecord(content.result) || !Object.hasOwn(content.result, INPUT_KEY))
    return undefined;
  const parsed = questions.safeParse(content.result[INPUT_KEY]);
  return parsed.success && Object.keys(parsed.data.requests).length > 0 ? parsed.data : undefined;
};

/** The questions that a client can answer, by the capabilities it declared. */
export const answerable = (
  { requests }: Questions,
  capabilities: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, Question>> =>
  Object.fromEntries(
    Object.entries(requests).filter(([, { method }]) => capabilities?.[CAPABILITIES[method]] !== undefined),
  );

/** What the client would have to declare to answer these. */
export const neededCapabilities = ({ requests }: Questions): Record<string, object> =>
  Object.fromEntries(Object.values(requests).map(({ method }) => [CAPABILITIES[method], {}]));

const answer = z.record(z.string(), z.json());

/** Answers as a client sent them; undefined when one of them is not an object. */
export const readAnswers = (given: unknown): Readonly<Record<string, JsonObject>> | undefined => {
  const parsed = z.record(z.string().max(128), answer).safeParse(given ?? {});
  return parsed.success ? (parsed.data as Record<string, JsonObject>) : undefined;
};

/** What the tool gets in its next round: the answers, and what it kept for itself. */
export const planAnswers = (responses: Readonly<Record<string, JsonObject>>, state?: JsonValue): JsonObject => ({
  responses,
  ...(state === undefined ? {} : { state }),
});

const APPROVAL = "approval";

/** A call that waits for a person, as a question to the person in front of the client. */
export const approvalQuestion = (toolName: string, shown: JsonObject): Questions => ({
  requests: {
    [APPROVAL]: {
      method: "elicitation/create",
      params: {
        mode: "form",
        message: `Approve the call of ${toolName} with ${JSON.stringify(shown)}?`,
        requestedSchema: {
          type: "object",
          properties: {
            approve: { type: "boolean", title: "Approve" },
            reason: { type: "string", title: "Reason", maxLength: 500 },
          },
          required: ["approve"],
        },
      },
    },
  },
});

export interface Verdict {
  readonly verb: "approve" | "deny";
  readonly reason: string | undefined;
}

/** Undefined: the person closed the question without an answer, so the call goes on waiting. */
export const readVerdict = (responses: Readonly<Record<string, JsonObject>>): Verdict | undefined => {
  const { action, content } = responses[APPROVAL] ?? {};
  const said = isRecord(content) ? content : {};
  const reason = typeof said.reason === "string" ? said.reason.slice(0, 500) : undefined;
  if (action === "decline") return { verb: "deny", reason };
  if (action !== "accept" || typeof said.approve !== "boolean") return undefined;
  return { verb: said.approve ? "approve" : "deny", reason };
};
