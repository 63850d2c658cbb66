// The logins of an embedded server, and what each is for.

/** Made by initdb, and all-powerful: it makes the other logins, and nothing else is done as it. */
export const SUPERUSER = "toolplane";
/** Owns the database and its tables: migrations, and the operator's own way in. */
export const OWNER = "toolplane_owner";
/** What a plane runs as: it may do what the engine's role may. */
export const RUNTIME = "toolplane_runtime";
