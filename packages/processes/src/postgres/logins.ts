// The logins of an embedded server, and what each is for.

/** Made by initdb, with all rights: it makes the other logins, and is used for nothing else. */
export const SUPERUSER = "toolplane";
/** Owns the database and its tables: for migrations, and for the operator. */
export const OWNER = "toolplane_owner";
/** The login that a plane runs as: it has the rights of the engine's role. */
export const RUNTIME = "toolplane_runtime";
