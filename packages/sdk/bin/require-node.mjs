// The first thing a launcher does. Written in syntax that any Node with modules can parse: an old Node must reach this
// sentence, not a syntax error in the middle of the program.

/**
 * The first Node that runs TypeScript by stripping types without a flag, in its oldest supported line.
 * @type {readonly [number, number]}
 */
const LEAST = [22, 18];

/** @param {string} version */
export function isOldNode(version) {
  const parts = version.split(".");
  const major = Number(parts[0]);
  const minor = Number(parts[1]);
  return major < LEAST[0] || (major === LEAST[0] && minor < LEAST[1]);
}

/**
 * Ends the process when it runs on an old Node.
 * @param {string} command
 */
export function requireNode(command) {
  if (!isOldNode(process.versions.node)) return;
  process.stderr.write(
    `${command} needs Node ${LEAST.join(".")} or later and this is ${process.versions.node}: ` +
      "install a newer Node, or run it by npx inside the repository, which brings its own.\n",
  );
  process.exit(1);
}
