// A definition is shared by every call made under it, so nobody may change it.

export const freezeJson = <T>(value: T): T => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) freezeJson(member);
  }
  return value;
};
