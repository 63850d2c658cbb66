// A model's text as a card can hold it: PostgreSQL stores no NUL, and half a character has no UTF-8. What a model says is
// shown with a mark in such a place; it is never a reason to end the turn.

export const storableText = (text: string): string => text.toWellFormed().replaceAll("\u0000", "\ufffd");
