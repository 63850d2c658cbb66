// The name of the built-in tool that reads more of a card.

export const READ_CARD = "read_card";
