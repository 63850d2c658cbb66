// About how many bytes a value takes as JSON, for the byte cap of a flush. It is nearly exact for text, which is what large
// values consist of. It never throws, and stops counting at `enough`, so a value of any size or shape (a cycle, a deep one) is
// cheap.

// Quotes, a comma, a short number.
const PER_VALUE = 8;

const partsOf = (value: object): Iterable<unknown> => {
  if (Array.isArray(value)) return value;
  return Object.entries(value).flat();
};

export const roughBytes = (value: unknown, enough: number): number => {
  const open: unknown[] = [value];
  let bytes = 0;
  try {
    while (open.length > 0 && bytes < enough) {
      const one = open.pop();
      bytes += PER_VALUE;
      if (typeof one === "string") bytes += one.length;
      else if (ArrayBuffer.isView(one)) bytes += one.byteLength;
      else if (typeof one === "object" && one !== null) for (const part of partsOf(one)) open.push(part);
    }
  } catch {
    // A value that cannot be read will not be stored; its call settles with a short error.
  }
  return Math.min(bytes, enough);
};
