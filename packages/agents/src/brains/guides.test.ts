import { readFileSync } from "node:fs";
import { isRecord } from "@toolplane/protocol";
import { parseProfile } from "@toolplane/protocol/registry";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { TRANSCRIPT_LIMITS } from "../transcript/transcript.ts";
import { chooseModel } from "./ai/choose-model.ts";
import { parseScript } from "./script/script.ts";
import { TEMPLATE_ROOTS } from "./script/script-template.ts";

const read = (name: string): string =>
  readFileSync(new URL(`../../../../docs/guides/${name}.md`, import.meta.url), "utf8");

const yamlBlocks = (page: string): readonly Record<string, unknown>[] =>
  page
    .split("```yaml\n")
    .slice(1)
    .map((rest) => parse(rest.slice(0, rest.indexOf("```"))) as unknown)
    .filter(isRecord);

const isProfile = (block: Record<string, unknown>): boolean => "worker_target" in block;

describe("what the guides show", () => {
  test("[ARCH-9-B3] the scripts of the guide are scripts", () => {
    const page = read("scripted-agents");
    const blocks = yamlBlocks(page);
    expect(blocks.length).toBeGreaterThanOrEqual(2);
    for (const block of blocks) {
      const script = isProfile(block) ? parseProfile(block).llm_config.script : block;
      expect(() => parseScript(script, "guide")).not.toThrow();
    }
    for (const root of TEMPLATE_ROOTS) expect(page).toContain(`{{${root}`);
  });

  test("[ARCH-9-B3] the profiles of the guide are profiles with a model", () => {
    const page = read("models");
    const profiles = yamlBlocks(page).filter(isProfile);
    expect(profiles.length).toBeGreaterThanOrEqual(3);
    for (const profile of profiles) expect(chooseModel(parseProfile(profile).llm_config).model).not.toBe("");
    expect(page).toContain(`${TRANSCRIPT_LIMITS.resultChars} characters`);
    expect(page).toContain(TRANSCRIPT_LIMITS.totalChars.toLocaleString("en-US"));
  });
});
