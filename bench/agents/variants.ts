// Turns that are measured: the one that only delivers is the floor, the others add calls and what comes back of them.

import type { Variant } from "../engine/round.ts";
import type { AgentScene } from "./scene.ts";

export interface TurnVariant extends Variant {
  readonly calls: number;
}

const turns = (scene: AgentScene, calls: number): Variant["begin"] => {
  return () => {
    const free: number[] = [];
    let made = 0;
    return {
      doOne: async () => {
        // As many agents as turns in flight: none waits behind another turn of its own agent.
        const agent = free.pop() ?? made++;
        await scene.runTurn(agent, calls);
        free.push(agent);
        return true;
      },
      end: async () => {},
    };
  };
};

export const turnVariants = (scene: AgentScene): readonly TurnVariant[] => [
  { name: "no call", calls: 0, adds: "spawn, one step, deliverable", begin: turns(scene, 0) },
  { name: "one call", calls: 1, adds: "a call and a second step", begin: turns(scene, 1) },
  { name: "ten calls", calls: 10, adds: "nine more calls in the same step", begin: turns(scene, 10) },
];
