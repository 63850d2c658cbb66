// Vitest setup file, loaded in every worker: a worker whose run was killed ends at once, and its guard ends the servers
// and programs of its tests. Left alone it would finish its test first, however long that takes, and start more servers.

// A worker that several files share loads this for each of them.
const LISTENS = Symbol.for("toolplane: this worker ends with its run");

if (!Reflect.has(globalThis, LISTENS)) {
  Reflect.set(globalThis, LISTENS, true);
  // Vitest turns process.exit into an error inside a worker. The channel to the run closes however the run dies.
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
}
