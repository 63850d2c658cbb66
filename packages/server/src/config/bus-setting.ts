// Where NATS is and how to connect to it, decided from file, environment and flags. Pure: the files it names are read when
// the connection is made. A URL may hold a password, so no sentence here shows one.

import { isAbsolute, join } from "node:path";
import { parseNatsAddress } from "@toolplane/bus";
import type { UsageError } from "@toolplane/protocol";
import { refuseConfig } from "./refuse.ts";
import { filled, readValue, type SettingsInput } from "./setting-value.ts";

export interface BusSetting {
  /** One address or several, separated by commas. */
  readonly url: string;
  /** Absolute paths. */
  readonly passwordFile: string | undefined;
  readonly credentials: string | undefined;
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly inboxPrefix: string | undefined;
  /** Copies a cluster keeps of each stream; undefined: the adapter decides. */
  readonly replicas: number | undefined;
}

/** The largest number that JetStream accepts. */
const MAX_REPLICAS = 5;

type Address = ReturnType<typeof parseNatsAddress>;

const parseUrl = (url: string, where: string): Address => {
  try {
    return parseNatsAddress(url, where);
  } catch (error) {
    throw refuseConfig((error as UsageError).message);
  }
};

/** Every user of the machine can read the arguments of a process. */
const refuseSecretInFlag = ({ password, token }: Address, hasPasswordFile: boolean): void => {
  if (password !== undefined)
    throw refuseConfig(
      "--nats-url holds a password, which every user of this machine can read in the list of processes: put the address into TOOLPLANE_NATS_URL, or write nats://USER@HOST and name a file with the password in TOOLPLANE_NATS_PASSWORD_FILE",
    );
  // The name is not shown: it may be a token.
  if (!hasPasswordFile && token !== undefined)
    throw refuseConfig(
      "--nats-url: NAME@HOST alone is a token, which every user of this machine can read in the list of processes; if NAME is a user, name the file with its password in TOOLPLANE_NATS_PASSWORD_FILE; if it is a token, put the address into TOOLPLANE_NATS_URL",
    );
};

/** The first who says it, by name: flags, then variables, then the file. */
const readUrl = (input: SettingsInput, hasPasswordFile: boolean): Address | undefined => {
  const { flags, env, file } = input;
  const flag = filled(flags.natsUrl);
  if (flag !== undefined) {
    const address = parseUrl(flag, "--nats-url");
    refuseSecretInFlag(address, hasPasswordFile);
    return address;
  }
  const variable = filled(env.TOOLPLANE_NATS_URL);
  if (variable !== undefined) return parseUrl(variable, "TOOLPLANE_NATS_URL");
  const path = ["bus", "url"];
  const value = readValue(input, path, file?.config.bus?.url);
  return value === undefined ? undefined : parseUrl(value, `${file?.where(path)}: bus.url`);
};

const readReplicas = (input: SettingsInput): number | undefined => {
  const { file } = input;
  const given = file?.config.bus?.replicas;
  const path = ["bus", "replicas"];
  const text = readValue(input, path, given === undefined ? undefined : String(given));
  if (text === undefined) return undefined;
  const replicas = Number(text);
  if (!Number.isInteger(replicas) || replicas < 1 || replicas > MAX_REPLICAS)
    throw refuseConfig(`${file?.where(path)}: bus.replicas is a whole number from 1 to ${MAX_REPLICAS}`);
  return replicas;
};

const isInbox = (text: string): boolean => text.split(".").every((token) => token !== "" && !/[\s*>]/u.test(token));

export const planBus = (input: SettingsInput): BusSetting | undefined => {
  const { env, file, cwd } = input;
  const section = file?.config.bus ?? {};
  const value = (key: "password_file" | "credentials" | "ca" | "cert" | "key" | "inbox_prefix"): string | undefined =>
    readValue(input, ["bus", key], section[key]);
  const pathOf = (key: "password_file" | "credentials" | "ca" | "cert" | "key"): string | undefined => {
    const path = value(key);
    return path === undefined || isAbsolute(path) ? path : join(file?.directory ?? cwd, path);
  };
  const here = (path: string): string => (isAbsolute(path) ? path : join(cwd, path));
  const givenPassword = filled(env.TOOLPLANE_NATS_PASSWORD_FILE);
  const passwordFile = givenPassword === undefined ? pathOf("password_file") : here(givenPassword);
  const address = readUrl(input, passwordFile !== undefined);
  const beside = Object.keys(section).find((key) => key !== "url");
  if (address === undefined) {
    if (beside === undefined) return undefined;
    throw refuseConfig(
      `${file?.where(["bus", beside])}: bus.${beside} is about NATS, and nothing says where that is: set bus.url or --nats-url`,
    );
  }
  if (passwordFile !== undefined && address.url.split(",").some((one) => new URL(one).username === ""))
    throw refuseConfig(
      "a file with the password of NATS is given, and the address names no user: write nats://USER@HOST",
    );
  if (passwordFile !== undefined && address.password !== undefined)
    throw refuseConfig("the address of NATS holds a password, and a file with one is given too: keep one of them");
  const given = filled(env.TOOLPLANE_NATS_CREDENTIALS);
  const inboxPrefix = filled(env.TOOLPLANE_NATS_INBOX) ?? value("inbox_prefix");
  if (inboxPrefix !== undefined && !isInbox(inboxPrefix))
    throw refuseConfig("the inbox prefix of NATS is a subject without wildcards, such as _INBOX_plane");
  const cert = pathOf("cert");
  const key = pathOf("key");
  if ((cert === undefined) !== (key === undefined)) {
    const has = cert === undefined ? "key" : "cert";
    throw refuseConfig(`${file?.where(["bus", has])}: bus.cert and bus.key come together`);
  }
  return {
    url: address.url,
    passwordFile,
    credentials: given === undefined ? pathOf("credentials") : here(given),
    ca: pathOf("ca"),
    cert,
    key,
    inboxPrefix,
    replicas: readReplicas(input),
  };
};
