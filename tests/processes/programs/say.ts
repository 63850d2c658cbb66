// One JSON value per line to whoever started us.

export const say = (value: unknown): void => {
  process.stdout.write(`${JSON.stringify(value)}\n`);
};
