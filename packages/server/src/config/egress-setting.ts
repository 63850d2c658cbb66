// Addresses that the operator of the plane allows beyond public https: `egress.allow` of the file, or TOOLPLANE_EGRESS_ALLOW in
// its place. Without either, no local address can be reached (SEC-16).

import { type AllowedOrigin, parseAllowedOrigin, parseHostPattern } from "@toolplane/egress/policy";
import { understandError } from "@toolplane/protocol";
import { refuseConfig } from "./refuse.ts";
import { filled, type SettingsInput } from "./setting-value.ts";

/** A value that is refused is never shown as it was given: it may hold a password. */
const parsed = <Value>(parse: (text: string) => Value, text: string, where: string): Value => {
  try {
    return parse(text);
  } catch (error) {
    throw refuseConfig(`${where}: ${understandError(error, { keepMessage: true }).message}`);
  }
};

interface Source<Value> {
  readonly parse: (text: string) => Value;
  /** An environment variable that is read instead of the file, with commas between its values. */
  readonly variable?: string;
  readonly path: readonly [string, string];
  readonly listed: readonly string[] | undefined;
}

const planList = <Value>({ env, file }: SettingsInput, source: Source<Value>): readonly Value[] => {
  const { parse, variable, path, listed = [] } = source;
  const given = variable === undefined ? undefined : filled(env[variable]);
  if (variable !== undefined && given !== undefined)
    return given
      .split(",")
      .map((text) => text.trim())
      .filter((text) => text !== "")
      .map((text) => parsed(parse, text, variable));
  return listed.map((text, index) => parsed(parse, text, `${file?.where([...path, index])}: ${path.join(".")}`));
};

export const planEgressAllow = (input: SettingsInput): readonly AllowedOrigin[] =>
  planList(input, {
    parse: parseAllowedOrigin,
    variable: "TOOLPLANE_EGRESS_ALLOW",
    path: ["egress", "allow"],
    listed: input.file?.config.egress?.allow,
  });

/** `egress.http_get`: the hosts that the bundled tool may ask. Without it the tool is off. */
export const planHttpGetHosts = (input: SettingsInput): readonly string[] =>
  planList(input, {
    parse: parseHostPattern,
    path: ["egress", "http_get"],
    listed: input.file?.config.egress?.http_get,
  });

/** `webhooks.allow_hosts`, or TOOLPLANE_WEBHOOK_HOSTS in its place: the hosts that webhooks may be sent to. */
export const planWebhookHosts = (input: SettingsInput): readonly string[] =>
  planList(input, {
    parse: parseHostPattern,
    variable: "TOOLPLANE_WEBHOOK_HOSTS",
    path: ["webhooks", "allow_hosts"],
    listed: input.file?.config.webhooks?.allow_hosts,
  });
