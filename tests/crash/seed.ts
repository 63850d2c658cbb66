// Where chance begins: the same in every run unless TOOLPLANE_SEED says otherwise, so that a failure can be repeated.

import { env } from "node:process";

const DEFAULT_SEED = 20_261_115;

export const A_SEED = Number(env.TOOLPLANE_SEED ?? DEFAULT_SEED);
