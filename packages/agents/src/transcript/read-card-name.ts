// The name of the built-in tool that reads more of a card; nobody else can register it.

export { READ_CARD } from "@toolplane/protocol/agents";
