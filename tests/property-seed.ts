// Vitest setup file: property tests draw from one fixed seed, so that the same tree gives the same answer twice. The long
// runs draw anew each time: TOOLPLANE_TEST_SEED=random, or a number to repeat what a failure printed.

import fc from "fast-check";

const DEFAULT_SEED = 20_261_115;

const chosen = process.env.TOOLPLANE_TEST_SEED ?? String(DEFAULT_SEED);

if (chosen !== "random") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(chosen) });
