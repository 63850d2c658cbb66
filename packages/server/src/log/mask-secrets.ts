// The last check of a log line. No part of the plane should put a secret there (I8); what has the form of one is masked in any case.
// Ids stay, so that a token or a session can be found and revoked.

/** Each keeps its first group; what follows it is masked. */
const FORMS: readonly RegExp[] = [
  // Tokens, and secrets of browser sessions.
  /\b(tps?_[0-9a-f]{12,16}_)[0-9a-f]{16,}/g,
  /(#login=)[0-9a-f]+/g,
  /\b(whsec_)[A-Za-z0-9+/=_-]+/g,
  /\b((?:Bearer|Basic) +)[A-Za-z0-9._~+/=-]{8,}/gi,
  // The password of an address.
  /([a-z][a-z0-9+.-]*:\/\/[^\s/:@"]*:)[^\s/@"]+(?=@)/gi,
];

export const maskSecrets = (line: string): string =>
  FORMS.reduce((text, form) => text.replace(form, (_match, kept: string) => `${kept}***`), line);
