// About how many bytes a value will take as JSON, for the byte cap of a flush. Never wrong by much for text, which is
// what large values are made of; never throws; stops counting at `enough`, so a value of any size or shape (a cycle,
// a deep one) costs no more than that.

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
    // A value that cannot even be looked at will not be stored; it settles its call by a short error.
  }
  return Math.min(bytes, enough);
};
