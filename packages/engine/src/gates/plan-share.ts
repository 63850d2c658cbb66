// How many open calls a project may have when the plane fills up.
//   OS1. A project may have as many open calls as the plane has places left. So one project alone takes half of the places at most, two take
//        a third each, and a project that comes later always finds room.
//   OS2. Every project may have a small number of open calls, however full the plane is: projects that fill it do not shut out one that has few.
//        When twice as many calls are open as there are places, every new call is refused, to bound the server's memory.

export interface OpenCalls {
  readonly open: number;
  /** The open calls of each project that has at least the floor; all other projects have fewer. */
  readonly byProject: ReadonlyMap<string, number>;
}

export const NO_OPEN_CALLS: OpenCalls = { open: 0, byProject: new Map() };

/** A thousand of 200,000. */
const FLOORS_OF_PLANE = 200;

/** What a project may have at least. */
export const floorOf = (places: number): number => Math.ceil(places / FLOORS_OF_PLANE);

/** From this many open calls on, the new calls of every project are refused. */
export const ceilingOf = (places: number): number => 2 * places;

/** How many open calls each project may have now; one that has as many is refused. Pure. */
export const planShare = (places: number, { open }: OpenCalls): number =>
  open >= ceilingOf(places) ? 0 : Math.max(places - open, floorOf(places));
