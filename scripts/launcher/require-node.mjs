// For launchers of the repository; the check itself is published with the server package.

export { isOldNode, requireNode } from "@toolplane/server/require-node";

/**
 * For a command whose program this version does not have.
 * @param {string} command
 * @param {string} instead
 */
export function refuseCommand(command, instead) {
  process.stderr.write(`${command} is not part of this version yet: ${instead}.\n`);
  process.exit(2);
}
