// What the harness gives to a neighbour's module and expects of it; the same shapes as in bench/doors/programs.

export interface Config {
  readonly databaseUrl?: string | undefined;
  readonly port?: number | undefined;
}

export interface Caller {
  call(): Promise<void>;
  close(): Promise<void>;
}

export interface Worker {
  close(): Promise<void>;
}

/** As in bench/doors/ours/tool.ts. */
export const ARGUMENTS = { text: "it was the best of times, it was the worst of times" };

export const CONCURRENCY = 256;

/** A result is what was asked for, or the contestant did not do the job. */
export const checkEcho = (result: unknown): void => {
  const { text } = (result ?? {}) as { readonly text?: unknown };
  if (text !== ARGUMENTS.text) throw new RangeError(`the result is ${JSON.stringify(result)}`);
};
