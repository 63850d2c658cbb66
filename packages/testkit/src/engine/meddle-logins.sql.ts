// What tests do to the tables of logins: time that passes.

export const MEDDLE_LOGINS = {
  expireCodes: "update resource.login_codes set expires_at = now() where used_at is null",
  expireSessions: "update resource.browser_sessions set expires_at = now() where ended_at is null",
  idleSessions: "update resource.browser_sessions set idle_at = now() where ended_at is null",
} as const;
