// What tests do to the tables of webhooks: time that passes.

export const MEDDLE_WEBHOOKS = {
  /** Pauses and leases are over. */
  deliveriesDue: "update state.webhook_deliveries set available_at = now() where status = 'pending'",
  loseWebhooks: "delete from resource.webhooks",
  lastAttempts: "update state.webhook_deliveries set attempts = 8, available_at = now() where status = 'pending'",
} as const;
