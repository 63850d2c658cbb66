// A definition is shared by all calls made under it, so it is frozen.

export const freezeJson = <T>(value: T): T => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) freezeJson(member);
  }
  return value;
};
