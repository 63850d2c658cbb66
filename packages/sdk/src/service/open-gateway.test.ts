import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NatsOptions } from "@toolplane/bus/nats";
import { ToolplaneError, UsageError } from "@toolplane/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHastyClock } from "../../test/manual-clock.ts";
import { createRecordingLog } from "../../test/recording-log.ts";
import { countingIds } from "../../test/sample-call.ts";
import { createScriptedLink } from "../../test/scripted-link.ts";
import type { Log } from "../ports/log.ts";
import { openGateway, readConnection } from "./open-gateway.ts";
import { planSettings } from "./settings.ts";

const JWT = `eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.${"a".repeat(60)}`;
const SEED = `SU${"B".repeat(56)}`;
const CREDENTIALS = [
  "-----BEGIN NATS USER JWT-----",
  JWT,
  "------END NATS USER JWT------",
  "",
  "************************* IMPORTANT *************************",
  "NKEY Seed printed below can be used to sign and prove identity.",
  "-----BEGIN USER NKEY SEED-----",
  SEED,
  "------END USER NKEY SEED------",
].join("\n");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "toolplane-creds-"));
  writeFileSync(join(folder, "me.creds"), CREDENTIALS);
  writeFileSync(join(folder, "not.creds"), "hello");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const settingsFor = (more: Record<string, string | undefined>) => planSettings({ target: "text" }, more);

describe("readConnection", () => {
  test("[API-6-N3] what a credentials file holds is secret, and nothing else in it", () => {
    const settings = settingsFor({
      TOOLPLANE_URL: "nats://h",
      TOOLPLANE_NATS_CREDENTIALS: join(folder, "me.creds"),
      TOOLPLANE_TOKEN: "tok",
    });
    const { credentials, secrets } = readConnection(settings);
    expect(credentials).toBe(CREDENTIALS);
    expect([...secrets.values()]).toEqual(["tok", JWT, SEED]);
  });

  test.each([
    ["is not there", "none.creds", "cannot be read"],
    ["is none", "not.creds", "not a NATS credentials file"],
  ])("[API-6-N1] a credentials file that %s is one sentence", (_name, file, words) => {
    const settings = settingsFor({ TOOLPLANE_URL: "nats://h", TOOLPLANE_NATS_CREDENTIALS: join(folder, file) });
    expect(() => readConnection(settings)).toThrow(UsageError);
    expect(() => readConnection(settings)).toThrow(words);
  });
});

describe("openGateway", () => {
  test("[API-6-N1] [API-6-N3] connects as the settings say, waits for a server that starts, and scrubs what a client logs", async () => {
    const settings = settingsFor({ TOOLPLANE_URL: "nats://me:s3cr3t-word@h:1", TOOLPLANE_NATS_INBOX: "_INBOX_text" });
    const log = createRecordingLog();
    const clock = createHastyClock(10_000);
    const link = createScriptedLink();
    const tries: NatsOptions[] = [];
    const openLink = async (options: NatsOptions, deps: { readonly log: Log }) => {
      tries.push(options);
      deps.log.warn("connecting to nats://me:s3cr3t-word@h:1", { url: options.url });
      if (tries.length < 3) throw new ToolplaneError("upstream_unavailable", "nobody answers");
      return link;
    };
    const opened = await openGateway(
      settings,
      readConnection(settings),
      { holder: "text@here:1", clock, random: () => 0, ids: countingIds(), log, openLink },
      { until: () => clock.now() + 60_000 },
    );
    expect(tries).toHaveLength(3);
    expect(tries[0]).toEqual({
      url: "nats://me:s3cr3t-word@h:1",
      name: "text@here:1",
      credentials: undefined,
      inboxPrefix: "_INBOX_text",
    });
    expect(log.entries).toHaveLength(3);
    expect(log.text()).not.toContain("s3cr3t-word");
    expect(opened.gateway.projectId).toBe("demo");
    await Promise.all([opened.close(), opened.close()]);
    expect(link.closed()).toBe(true);
  });

  test("[API-6-N1] an http address opens no connection", async () => {
    const settings = settingsFor({});
    const deps = { holder: "h", clock: createHastyClock(1), random: () => 0, ids: countingIds() };
    const openLink = (): never => expect.unreachable();
    const { gateway, close } = await openGateway(
      settings,
      readConnection(settings),
      { ...deps, log: createRecordingLog(), openLink },
      {},
    );
    expect(gateway.projectId).toBe("demo");
    await close();
  });
});
