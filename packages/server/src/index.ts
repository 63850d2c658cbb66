// The public face of @toolplane/server: a plane in your own process.

export type { CloseOptions } from "./plane/close-plane.ts";
export { type OpenPlaneOptions, type OwnPlane, openPlane, type ServeHereOptions } from "./plane/open-plane.ts";
