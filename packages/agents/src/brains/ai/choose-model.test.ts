import { llmConfigSchema } from "@toolplane/protocol/registry";
import { describe, expect, test } from "vitest";
import { chooseModel } from "./choose-model.ts";
import { type KeyUse, readKey } from "./read-key.ts";

const choose = (config: object) => chooseModel(llmConfigSchema.parse(config));

describe("which model a profile means", () => {
  test.each([
    [{ model: "openai/gpt-5" }, "openai", "gpt-5", "https://api.openai.com/v1", "OPENAI_API_KEY"],
    [{ model: "gpt-5-mini" }, "openai", "gpt-5-mini", "https://api.openai.com/v1", "OPENAI_API_KEY"],
    [{}, "openai", "gpt-3.5-turbo", "https://api.openai.com/v1", "OPENAI_API_KEY"],
    [{ model: "anthropic/claude-x" }, "anthropic", "claude-x", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"],
    [{ model: "claude-x", api_key: "env:MINE" }, "anthropic", "claude-x", "https://api.anthropic.com/v1", "MINE"],
    [
      { model: "gemini/gemini-x" },
      "google",
      "gemini-x",
      "https://generativelanguage.googleapis.com/v1beta",
      "GEMINI_API_KEY",
    ],
    [
      { model: "google/gemini-x", api_base: "https://proxy.example/v1/" },
      "google",
      "gemini-x",
      "https://proxy.example/v1",
      "GEMINI_API_KEY",
    ],
    [
      { model: "llama3", api_base: "http://127.0.0.1:11434/v1" },
      "compatible",
      "llama3",
      "http://127.0.0.1:11434/v1",
      undefined,
    ],
    [
      { model: "llama3", api_base: "http://gpu-box:8000/v1" },
      "compatible",
      "llama3",
      "http://gpu-box:8000/v1",
      undefined,
    ],
    [
      { model: "openai/some", api_base: "https://a.example/v1", api_key: "env:K" },
      "compatible",
      "some",
      "https://a.example/v1",
      "K",
    ],
    [
      { model: "meta-llama/llama-3", api_base: "https://a.example/v1" },
      "compatible",
      "meta-llama/llama-3",
      "https://a.example/v1",
      undefined,
    ],
  ])("[ARCH-9-A11] %j", (config, provider, model, apiBase, keyName) => {
    expect(choose(config)).toEqual({ provider, model, apiBase, ...(keyName === undefined ? {} : { keyName }) });
  });

  test.each([
    [{ model: "llama3" }, "no provider is known"],
    [{ model: "x", api_base: "ftp://a.example" }, "http or https"],
    [{ model: "x", api_base: "not an address" }, "http or https"],
    [{ model: "x", api_base: "https://user:pass@a.example" }, "no user"],
    [{ model: "x", api_base: "https://a.example/?key=1" }, "no user, query"],
    [{ model: "x", api_base: "http://a.example/v1", api_key: "env:K" }, "use https"],
    [{ model: "anthropic/x", api_base: "http://a.example/v1" }, "use https"],
  ])("[ARCH-9-A11] %j is refused with what to do", (config, words) => {
    expect(() => choose(config)).toThrow(
      expect.objectContaining({ code: "bad_request", message: expect.stringContaining(words) }),
    );
  });
});

describe("the key of a model", () => {
  const at = (keyName?: string) => ({ keyName, apiBase: "https://API.example.com.:8443/v1" });

  test("[SEC-7-B2] comes from an allowed variable and is missing with advice", async () => {
    const secret = ({ name }: KeyUse) => ({ GOOD: "  value\n", EMPTY: " " })[name];
    expect(await readKey(at(), "p", secret)).toBeUndefined();
    expect(await readKey(at("GOOD"), "p", secret)).toBe("value");
    for (const name of ["EMPTY", "NONE"]) {
      await expect(readKey(at(name), "p", secret)).rejects.toMatchObject({
        code: "auth_failed",
        message: expect.stringMatching(new RegExp(`project p .*set the variable ${name} .*secrets\\.allow_env`)),
      });
    }
  });

  test("[SEC-7-G2] is asked for with the project and the host it goes to", async () => {
    const asked: KeyUse[] = [];
    const secret = (use: KeyUse) => {
      asked.push(use);
      return "value";
    };
    await readKey(at("GOOD"), "p", secret);
    expect(asked).toEqual([{ name: "GOOD", projectId: "p", host: "api.example.com" }]);
  });

  test.each(["DATABASE_URL", "TOOLPLANE_TOKEN", "NATS_URL", "PATH", "a b"])(
    "[SEC-7-B2] %s is never asked for",
    async (name) => {
      const asked: KeyUse[] = [];
      const spy = (use: KeyUse): string => {
        asked.push(use);
        return "x";
      };
      await expect(readKey(at(name), "p", spy)).rejects.toMatchObject({ code: "auth_failed" });
      expect(asked).toEqual([]);
    },
  );
});
