import { parseAllowedOrigin } from "@toolplane/egress/policy";
import { parseProfile } from "@toolplane/protocol/registry";
import { expect, test } from "vitest";
import { createProfileCheck } from "./check-profile.ts";

const check = createProfileCheck([parseAllowedOrigin("http://127.0.0.1:11434")]);
const profile = (llm_config: object) => parseProfile({ name: "p", worker_target: "w", llm_config });

test.each([
  {},
  { model: "openai/gpt-5" },
  { model: "m", api_base: "https://models.example.com/v1" },
  { model: "m", api_base: "http://127.0.0.1:11434/v1" },
  { model: "script/x", api_base: "http://10.0.0.1" },
  { provider: "function", model: "x", api_base: "http://10.0.0.1" },
  { provider: "script", script: { steps: [{ finish: "x" }] }, api_base: "http://10.0.0.1" },
])("[SEC-6-3] %j is taken", (config) => {
  expect(() => check(profile(config))).not.toThrow();
});

test.each([
  "http://127.0.0.1:11435/v1",
  "http://0x7f.1/v1",
  "https://10.0.0.1/v1",
  "https://169.254.169.254/v1",
  "http://models.example.com/v1",
  "https://user:pass@models.example.com/v1",
  "ftp://models.example.com",
  "not an address",
])("[SEC-6-3] %s is refused when it is registered", (api_base) => {
  for (const model of ["m", "anthropic/claude-x", "openai/gpt-5"])
    expect(() => check(profile({ model, api_base }))).toThrow(
      expect.objectContaining({ code: "bad_request", message: expect.stringContaining("llm_config.api_base: ") }),
    );
});

test("[AGENT-script-early] a bad script is refused when its profile is registered, with the place and the mistake", () => {
  const script = { steps: [{ call: { tool: "echo", arguments: {} } }, { finnish: "done" }] };
  expect(() => check(profile({ provider: "script", script }))).toThrow(
    expect.objectContaining({
      code: "bad_request",
      message: expect.stringMatching(/^llm_config\.script: script of profile p at steps\.1: .*finnish/u),
    }),
  );
});
