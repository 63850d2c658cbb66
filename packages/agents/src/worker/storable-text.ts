// A model's text in a form that a card can hold: PostgreSQL stores no NUL, and half a surrogate pair has no UTF-8. Such places
// are shown with a mark; they never end the turn.

export const storableText = (text: string): string => text.toWellFormed().replaceAll("\u0000", "\ufffd");
