// What a run needs around it: the scripted plane on a loopback port, the service, and everything put away at the end.

import type { CliIo } from "../cli/io.ts";
import { type Connection, createLastWords, type LastWords, launchCommand } from "./launch-command.ts";
import { listenOnLoopback } from "./plane/listen.ts";
import { createScriptedPlane, type ScriptedPlane } from "./plane/scripted-plane.ts";
import { createServiceLife, type LaunchedService, type ServiceLife } from "./service-life.ts";
import { createWatch, type Watch } from "./watch.ts";

export interface WorkbenchOptions {
  readonly projectId: string;
  readonly target: string;
  readonly port: number;
  readonly command: readonly string[];
  readonly launch: ((connection: Connection) => Promise<LaunchedService>) | undefined;
  readonly verbose: boolean;
  readonly connectMs: number;
}

export interface Workbench extends AsyncDisposable {
  readonly plane: ScriptedPlane;
  readonly watch: Watch;
  readonly life: ServiceLife;
  readonly connection: Connection;
  readonly words: LastWords;
  /** Starts the service, if it is ours, and waits until it asks for work. */
  start(): Promise<boolean>;
  restart(): Promise<boolean>;
}

/** Claims for other targets after which none for ours is expected; a service of several targets asks for all of them. */
const MANY_STRAYS = 4;

export const openWorkbench = async (options: WorkbenchOptions, io: CliIo): Promise<Workbench> => {
  const { projectId, target, command } = options;
  const watch = createWatch(io.sleep);
  const token = `conform_${io.uuid().replaceAll("-", "")}`;
  const plane = createScriptedPlane({ projectId, target, token, watch, now: io.now, sleep: io.sleep });
  const listener = await listenOnLoopback(plane.app, options.port);
  const connection: Connection = { url: listener.url, token, projectId };
  const words = createLastWords();
  const isOurs = options.launch !== undefined || command.length > 0;
  const launch = async (): Promise<LaunchedService> =>
    options.launch === undefined
      ? launchCommand({ argv: command, connection, io, verbose: options.verbose, words })
      : options.launch(connection);
  const life = createServiceLife(isOurs ? launch : undefined, watch);
  const forget = io.onStop(() => life.giveUp());

  const claims = (): number => plane.seen().claims.filter((claim) => claim.target === target).length;
  const strayClaims = (): number => plane.seen().claims.length - claims();
  const untilClaimed = async (before: number): Promise<boolean> => {
    const isHopeless = (): boolean => life.ended() !== undefined || (claims() === 0 && strayClaims() >= MANY_STRAYS);
    await watch.until(() => claims() > before || isHopeless(), options.connectMs);
    return claims() > before;
  };

  return {
    plane,
    watch,
    life,
    connection,
    words,
    async start() {
      await life.start();
      return untilClaimed(0);
    },
    async restart() {
      plane.desk.clear();
      const before = claims();
      return (await life.restart()) && (await untilClaimed(before));
    },
    async [Symbol.asyncDispose]() {
      forget();
      plane.desk.close();
      await life.stop();
      await listener.close();
    },
  };
};
