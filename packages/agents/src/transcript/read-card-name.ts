// The name of the built-in tool that reads more of a card; no other tool can be registered under it.

export { READ_CARD } from "@toolplane/protocol/agents";
