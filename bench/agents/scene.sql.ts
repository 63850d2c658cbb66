// What autovacuum does by itself within minutes: on tables as young as a bench's the planner knows nothing and guesses.

export const ANALYZE = "analyze";
