// A faults port at which engines meet: the first so many that come to a point wait there for each other, later ones pass.

import type { FaultPoint, Faults } from "@toolplane/engine/internal";

export const createMeeting = (at: FaultPoint, count: number): Faults => {
  let arrived = 0;
  const all = Promise.withResolvers<void>();
  return {
    async at(point) {
      if (point !== at || arrived === count) return;
      if (++arrived === count) all.resolve();
      await all.promise;
    },
  };
};
