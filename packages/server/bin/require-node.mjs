// The first thing a launcher does: the sdk package, which has a launcher too, brings it.

export { isOldNode, requireNode } from "@toolplane/sdk/require-node";
