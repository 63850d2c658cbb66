// What a run needs around it: the scripted plane behind a door, the service, and the cleaning up at the end.

import { readFileSync } from "node:fs";

import { ToolplaneError } from "@toolplane/protocol";
import type { CliIo } from "../cli/io.ts";
import { type Connection, createLastWords, type LastWords, launchCommand } from "./launch-command.ts";
import { openHttpDoor } from "./plane/http-door.ts";
import { createScriptedPlane, type ScriptedPlane } from "./plane/scripted-plane.ts";
import type { ServiceDoor } from "./plane/service-door.ts";
import { createServiceLife, type LaunchedService, type ServiceLife } from "./service-life.ts";
import { createWatch, type Watch } from "./watch.ts";

export interface WorkbenchOptions {
  readonly projectId: string;
  readonly target: string;
  readonly port: number;
  /** Over NATS, at this address; over HTTP without one. */
  readonly natsUrl: string | undefined;
  /** The tool is known without a registration, so a service that only listens can be called. */
  readonly mayOnlyListen: boolean;
  readonly command: readonly string[];
  readonly launch: ((connection: Connection) => Promise<LaunchedService>) | undefined;
  readonly verbose: boolean;
  readonly connectMs: number;
}

export interface Workbench extends AsyncDisposable {
  readonly plane: ScriptedPlane;
  readonly door: ServiceDoor;
  readonly watch: Watch;
  readonly life: ServiceLife;
  readonly connection: Connection;
  readonly words: LastWords;
  /** Starts the service, if it is ours, and waits until it asks for work. */
  start(): Promise<boolean>;
  restart(): Promise<boolean>;
}

/** After so many claims for other targets none for ours is expected; a service of several targets asks for all of them. */
const MANY_STRAYS = 4;
/** A service that only listens shows nothing when it starts; by then an interpreter on a busy machine is running. */
const LISTENING_MS = 2_000;
const CREDENTIALS = "TOOLPLANE_NATS_CREDENTIALS";

const credentialsIn = (env: CliIo["env"]): string | undefined => {
  const path = env[CREDENTIALS];
  if (path === undefined || path === "") return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const message = `${CREDENTIALS} names a file that cannot be read: ${path}`;
    throw new ToolplaneError("not_found", message, { cause });
  }
};

const openDoor = async (
  options: WorkbenchOptions,
  plane: ScriptedPlane,
  watch: Watch,
  io: CliIo,
): Promise<ServiceDoor> => {
  const { projectId, target, port, natsUrl: url } = options;
  const place = { plane, projectId, target, watch, sleep: io.sleep };
  if (url === undefined) return openHttpDoor({ ...place, port, token: `conform_${io.uuid().replaceAll("-", "")}` });
  // Imported here, because it loads the NATS client.
  const { openNatsDoor } = await import("./plane/nats-door.ts");
  return openNatsDoor({ ...place, url, credentials: credentialsIn(io.env), now: io.now, uuid: io.uuid });
};

export const openWorkbench = async (options: WorkbenchOptions, io: CliIo): Promise<Workbench> => {
  const { projectId, target, command } = options;
  const watch = createWatch(io.sleep);
  const plane = createScriptedPlane({ projectId, watch, now: io.now });
  const door = await openDoor(options, plane, watch, io);
  const { connection } = door;
  const words = createLastWords();
  const isOurs = options.launch !== undefined || command.length > 0;
  const launch = async (): Promise<LaunchedService> =>
    options.launch === undefined
      ? launchCommand({ argv: command, connection, io, verbose: options.verbose, words })
      : options.launch(connection);
  const life = createServiceLife(isOurs ? launch : undefined, watch);
  const forget = io.onStop(() => life.giveUp());

  const strayClaims = (): number => plane.seen().claims.filter((claim) => claim.target !== target).length;
  const untilThere = async (before: number): Promise<boolean> => {
    const isHopeless = (): boolean =>
      life.ended() !== undefined || (door.arrivals() === 0 && strayClaims() >= MANY_STRAYS);
    const isThere = (): boolean => door.arrivals() > before;
    if (!options.mayOnlyListen) await watch.until(() => isThere() || isHopeless(), options.connectMs);
    else if (!(await watch.until(() => isThere() || isHopeless(), LISTENING_MS))) return life.ended() === undefined;
    return isThere();
  };

  return {
    plane,
    door,
    watch,
    life,
    connection,
    words,
    async start() {
      await life.start();
      return untilThere(0);
    },
    async restart() {
      await door.clear();
      const before = door.arrivals();
      return (await life.restart()) && (await untilThere(before));
    },
    async [Symbol.asyncDispose]() {
      forget();
      await life.stop();
      await door.close();
    },
  };
};
