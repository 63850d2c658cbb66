// Concrete subjects: `cg.{ver}.{project_id}.{channel_id}.{category}.{component}.{target}.{suffix}`.
// Invariants: every token is `[A-Za-z0-9_-]+`, so a parsed subject never holds a wildcard, a blank or an empty token;
// the suffix is whatever follows the target, dots included; parse(format(x)) is x.
// Subscription patterns, which do hold wildcards, are another type: pattern.ts.

import { violation } from "../errors/toolplane-error.ts";
import { isToken, isTokenCode } from "./token.ts";

export const PROTOCOL_VERSION = "v1r4";

/** The older version, whose messages carry identity in the payload. Only tool services on NATS may still speak it. */
export const PAYLOAD_STYLE_VERSION = "v1r3";

/** The channel of a message that names none. */
export const DEFAULT_CHANNEL = "public";

/** `cmd` work queue, `evt` multicast fact, `str` lossy stream, `rpc` request/reply with the gateway (in no stream). */
export const CATEGORIES = ["cmd", "evt", "str", "rpc"] as const;
export type Category = (typeof CATEGORIES)[number];

/** `gateway` belongs to `rpc` alone; `user` is reserved by the protocol and has no message yet. */
const COMPONENTS = ["agent", "sys", "tool", "user", "gateway"] as const;
export type Component = (typeof COMPONENTS)[number];

export interface Subject {
  readonly version: string;
  readonly projectId: string;
  readonly channelId: string;
  readonly category: Category;
  readonly component: Component;
  readonly target: string;
  readonly suffix: string;
}

const MIN_TOKENS = 8;

/** A NATS server closes the connection of a client whose control line passes 4096 bytes; stay well below it. */
export const MAX_SUBJECT_LENGTH = 1024;

const DOT = 0x2e;

const isCategory = (value: unknown): value is Category => CATEGORIES.some((category) => category === value);

const isComponent = (value: unknown): value is Component => COMPONENTS.some((component) => component === value);

type Parsed = Subject | string;

/** The subject, or what is wrong with it. */
const read = (text: unknown): Parsed => {
  if (typeof text !== "string") return "is not a string";
  if (text.length > MAX_SUBJECT_LENGTH) return `is longer than ${MAX_SUBJECT_LENGTH} characters`;
  const ends: number[] = [];
  let start = 0;
  for (let i = 0; i <= text.length; i += 1) {
    const code = i === text.length ? DOT : text.charCodeAt(i);
    if (code === DOT) {
      if (i === start) return "has an empty token";
      ends.push(i);
      start = i + 1;
    } else if (!isTokenCode(code)) {
      return "has a character outside A-Z a-z 0-9 _ - in a token";
    }
  }
  if (ends.length < MIN_TOKENS) return `has fewer than ${MIN_TOKENS} tokens`;
  const token = (index: number): string => text.slice((ends[index - 1] ?? -1) + 1, ends[index]);
  if (token(0) !== "cg") return "does not start with cg";
  const category = token(4);
  const component = token(5);
  if (!isCategory(category)) return "has an unknown category";
  if (!isComponent(component)) return "has an unknown component";
  if ((category === "rpc") !== (component === "gateway")) return "joins a category and a component that do not belong";
  return {
    version: token(1),
    projectId: token(2),
    channelId: token(3),
    category,
    component,
    target: token(6),
    suffix: text.slice((ends[6] ?? 0) + 1),
  };
};

export const tryParseSubject = (text: unknown): Subject | undefined => {
  const parsed = read(text);
  return typeof parsed === "string" ? undefined : parsed;
};

export const parseSubject = (text: unknown): Subject => {
  const parsed = read(text);
  if (typeof parsed === "string") throw violation(`subject ${parsed}`);
  return parsed;
};

const SINGLE_TOKENS = ["version", "projectId", "channelId", "target"] as const;

/** The text of a subject. Refuses parts that are not one token each (the suffix: one or more, joined by dots). */
export const formatSubject = (subject: Subject): string => {
  for (const part of SINGLE_TOKENS) {
    if (!isToken(subject[part])) throw violation(`subject part ${part} is not one token`);
  }
  const { version, projectId, channelId, category, component, target, suffix } = subject;
  const text = `cg.${version}.${projectId}.${channelId}.${category}.${component}.${target}.${suffix}`;
  // The parser itself checks the suffix, the category and their pairing, so writer and parser cannot disagree.
  parseSubject(text);
  return text;
};
