// The secret port: unguessable bytes, as hex.

import { randomBytes } from "node:crypto";

export type RandomSecret = (bytes: number) => string;

export const randomSecret: RandomSecret = (bytes) => randomBytes(bytes).toString("hex");
