// What the lead delivers, to the byte: five parts in the order they were asked for, not in the order they came.

export const LAST_WORD =
  "9 words, TELL ME OF THE SEA AND OF THE SKY, yks eht fo dna aes eht fo em llet; scribe accepted; readers partial: " +
  "2 words, 4 words, summary: the turn ended early | output:  | reason: bad_request, nobody answered, 6 words; " +
  "allowed the red button was pressed";
