// Builds the page into `dist`: hashed files, nothing inline (the server's content security policy allows no inline script or
// style), nothing from another host. `npm run dev` serves the sources beside a running plane and sends its token.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const plane = process.env.TOOLPLANE_URL ?? "http://127.0.0.1:7420";

/** Only for development: the shipped page never sees a token in a variable. */
const devToken = (): string => {
  const file = process.env.TOOLPLANE_TOKEN_FILE ?? fileURLToPath(new URL("../../.toolplane/token", import.meta.url));
  try {
    return process.env.TOOLPLANE_TOKEN ?? readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
};

const API = "^/(projects|tokens|audit|whoami|health|live|session|openapi.json|metrics)(/|$|\\?)";

export default defineConfig(({ command }) => ({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "/",
  build: {
    outDir: process.env.TOOLPLANE_CONSOLE_OUT ?? "dist",
    emptyOutDir: true,
    // An inlined asset is a data: address, which the policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    reportCompressedSize: false,
  },
  ...(command === "serve"
    ? {
        server: {
          host: "127.0.0.1",
          proxy: {
            [API]: {
              target: plane,
              changeOrigin: true,
              headers: { authorization: `Bearer ${devToken()}`, origin: plane },
            },
          },
        },
      }
    : {}),
}));
