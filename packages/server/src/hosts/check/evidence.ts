// What was sent to a host and what it answered, in order. Judges look at nothing else.

import { isRecord, type JsonObject } from "@toolplane/protocol";

/** One line sent. */
export interface Said {
  /** Which step of the check it belongs to. */
  readonly tag: string;
  readonly order: number;
  /** Null for a line that is not a request. */
  readonly id: string | null;
  readonly method: string | undefined;
  readonly params: JsonObject;
}

/** One line that came. */
export interface Heard {
  readonly order: number;
  readonly text: string;
  /** Undefined when it is not a JSON object. */
  readonly message: JsonObject | undefined;
}

export type Ending =
  | { readonly kind: "running" }
  /** The host was asked to end and had not ended when the time was over. */
  | { readonly kind: "late" }
  | { readonly kind: "exited"; readonly code: number | null; readonly signal: string | null };

/** The life of one process. */
export interface Conversation {
  /** The extensions it agreed on. */
  readonly extensions: readonly string[];
  readonly said: readonly Said[];
  readonly heard: readonly Heard[];
  /** How it ended when it was asked to; undefined when it was not asked. */
  readonly farewell: Ending | undefined;
  /** The step in which it ended without being asked. */
  readonly diedIn: string | undefined;
}

export interface HostEvidence {
  readonly conversations: readonly Conversation[];
}

export const isAnswer = (message: JsonObject | undefined): message is JsonObject => typeof message?.ok === "boolean";
export const isEvent = (message: JsonObject | undefined): message is JsonObject => isRecord(message?.event);

export interface Asked {
  readonly said: Said;
  readonly answers: readonly JsonObject[];
}

/** The lines of a step, each with its answers. */
export const askedIn = ({ conversations }: HostEvidence, tag: string): readonly Asked[] =>
  conversations.flatMap(({ said, heard }) =>
    said
      .filter((one) => one.tag === tag)
      .map((one) => ({
        said: one,
        answers: heard.flatMap(({ message }) =>
          isAnswer(message) && message.id === one.id && one.id !== null ? [message] : [],
        ),
      })),
  );

/** Failures under id null that came between this line and the next one. */
export const namelessAfter = ({ conversations }: HostEvidence, tag: string): readonly JsonObject[] =>
  conversations.flatMap(({ said, heard }) => {
    const index = said.findIndex((one) => one.tag === tag);
    const [from, to] = [said[index]?.order ?? Infinity, said[index + 1]?.order ?? Infinity];
    return heard.flatMap(({ message, order }) =>
      isAnswer(message) && message.id === null && order > from && order < to ? [message] : [],
    );
  });

export const answeredValue = (answer: JsonObject | undefined): unknown =>
  answer?.ok === true && isRecord(answer.result) ? answer.result.value : undefined;

export const errorTypeOf = (answer: JsonObject | undefined): string | undefined =>
  answer?.ok === false && isRecord(answer.error) ? String(answer.error.type) : undefined;
