// What the reference service asks of a plane, over any transport. Statuses are HTTP's; 0 means no answer.

import type { Command, Json } from "./habits.ts";

export interface ServiceConnection {
  readonly url: string;
  readonly token: string;
  readonly projectId: string;
  readonly target: string;
}

export interface Beat {
  readonly lost: boolean;
  readonly cancel: boolean;
}

export interface Answer {
  readonly status: number;
  /** Undefined when it is not JSON. */
  readonly body: unknown;
}

type Headers = Readonly<Record<string, string>>;

export interface ServiceClient {
  /** Registers and does whatever else comes first. */
  begin(): Promise<void>;
  /** The commands that the plane gave out; undefined when the request failed. */
  claim(max: number): Promise<readonly Command[] | undefined>;
  card(command: Command, callId: string, signal: AbortSignal): Promise<Json | undefined>;
  /** The call a card belongs to, for services that trust cards. */
  callOnCard(command: Command): Promise<string>;
  /** Undefined: this service renews nothing. */
  beat(command: Command, callId: string): Promise<Beat | undefined>;
  release(command: Command, callId: string): Promise<void>;
  settle(command: Command, address: string, body: Json, headers: Headers): Promise<number>;
  /** Writes the result card. The answer's body names the card that exists already, when this one is refused for it. */
  putCard(command: Command, card: Json, headers: Headers): Promise<Answer>;
  report(command: Command, callback: Json, headers: Headers): Promise<number>;
  close(): Promise<void>;
}
