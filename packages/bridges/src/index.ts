// Foreign tools become ordinary tools: NDJSON tool hosts.

export {};
