// For tests of the launchers; the check itself is published with the packages.

export { isOldNode, requireNode } from "@toolplane/server/require-node";
