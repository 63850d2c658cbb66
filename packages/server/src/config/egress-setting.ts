// Addresses that the operator of the plane allows beyond public https: `egress.allow` of the file, or TOOLPLANE_EGRESS_ALLOW in
// its place. Without either, no local address can be reached (SEC-16).

import { type AllowedOrigin, parseAllowedOrigin, parseHostPattern } from "@toolplane/egress/policy";
import { understandError } from "@toolplane/protocol";
import { refuseConfig } from "./refuse.ts";
import { filled, type SettingsInput } from "./setting-value.ts";

const parse = (text: string, where: string): AllowedOrigin => {
  try {
    return parseAllowedOrigin(text);
  } catch (error) {
    // Never shown as it was given: it may hold a password.
    throw refuseConfig(`${where}: ${understandError(error, { keepMessage: true }).message}`);
  }
};

export const planEgressAllow = ({ env, file }: SettingsInput): readonly AllowedOrigin[] => {
  const given = filled(env.TOOLPLANE_EGRESS_ALLOW);
  if (given !== undefined)
    return given
      .split(",")
      .map((text) => text.trim())
      .filter((text) => text !== "")
      .map((text) => parse(text, "TOOLPLANE_EGRESS_ALLOW"));
  return (file?.config.egress?.allow ?? []).map((text, index) =>
    parse(text, `${file?.where(["egress", "allow", index])}: egress.allow`),
  );
};

const parsePattern = (text: string, where: string): string => {
  try {
    return parseHostPattern(text);
  } catch (error) {
    throw refuseConfig(`${where}: ${understandError(error, { keepMessage: true }).message}`);
  }
};

/** `egress.http_get`: the hosts that the bundled tool may ask. Without it the tool is off. */
export const planHttpGetHosts = ({ file }: SettingsInput): readonly string[] =>
  (file?.config.egress?.http_get ?? []).map((text, index) =>
    parsePattern(text, `${file?.where(["egress", "http_get", index])}: egress.http_get`),
  );

/** `webhooks.allow_hosts`, or TOOLPLANE_WEBHOOK_HOSTS in its place: the hosts that webhooks may be sent to. */
export const planWebhookHosts = ({ env, file }: SettingsInput): readonly string[] => {
  const given = filled(env.TOOLPLANE_WEBHOOK_HOSTS);
  if (given !== undefined)
    return given
      .split(",")
      .map((text) => text.trim())
      .filter((text) => text !== "")
      .map((text) => parsePattern(text, "TOOLPLANE_WEBHOOK_HOSTS"));
  return (file?.config.webhooks?.allow_hosts ?? []).map((text, index) =>
    parsePattern(text, `${file?.where(["webhooks", "allow_hosts", index])}: webhooks.allow_hosts`),
  );
};
