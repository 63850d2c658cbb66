// A tool that says its secret in every way that a tool can: result, error, log, parts; raw and encoded, and cut in two.

import { defineTool, type Tool } from "@toolplane/sdk";
import { z } from "zod";

const escaped = (text: string): string =>
  text
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

/** Every way in which a careless program may write it. */
export const formsOf = (secret: string): Record<string, string> => ({
  raw: secret,
  base64: Buffer.from(`user:${secret}`).toString("base64"),
  hex: Buffer.from(secret).toString("hex"),
  url: `https://api.example.com/?key=${encodeURIComponent(secret)}`,
  json: JSON.stringify({ secret }),
  slashes: JSON.stringify({ secret }).replaceAll("/", "\\/"),
  codes: escaped(secret),
});

export const halvesOf = (text: string): readonly [string, string] => [
  text.slice(0, Math.ceil(text.length / 2)),
  text.slice(Math.ceil(text.length / 2)),
];

/** `stray` gets what a program writes beside its protocol. */
export const createLeak = (variable: string, stray: (text: string) => void = () => {}): Tool =>
  defineTool({
    name: "leak",
    description: "Says its secret.",
    parameters: z.strictObject({ how: z.enum(["return", "throw"]) }),
    secrets: [variable],
    run: ({ how }, { secrets, emit, log }) => {
      const secret = secrets[variable] ?? "";
      const forms = formsOf(secret);
      for (const [name, form] of Object.entries(forms)) {
        log.warn(`leaks ${form}`, { name, form, [form]: 1 });
        emit({ [form]: form });
        for (const half of halvesOf(form)) emit({ half });
      }
      stray(`stray ${Object.values(forms).join(" ")}\n`);
      if (how === "throw") throw new RangeError(`cannot use ${Object.values(forms).join(" ")}`, { cause: forms });
      return { ...forms, [secret]: [secret] };
    },
  });
