// A card as the API shows it, whole or a piece of it.

export interface CardBody {
  readonly content: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly author_id: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly tool_calls: readonly unknown[] | null;
  readonly tool_call_id: string | null;
  readonly ttl_seconds: number | null;
}

export interface CardPiece {
  readonly type: string;
  readonly text: string;
  readonly offset: number;
  readonly total: number;
  readonly next_offset: number | null;
}

/** As much as the server gives unless it is asked for more. A card that is smaller is shown whole. */
export const PIECE_CHARS = 65_536;
