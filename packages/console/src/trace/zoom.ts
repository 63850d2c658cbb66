// Where a drawing is looked at: its scale and its shift. Pure.

export interface Look {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

const LEAST = 0.1;
const MOST = 4;
export const STEP = 1.3;

/** The whole drawing in the middle, never larger than life. */
export const fitWhole = (width: number, height: number, boxWidth: number, boxHeight: number): Look => {
  const scale = Math.max(LEAST, Math.min(1, boxWidth / Math.max(width, 1), boxHeight / Math.max(height, 1)));
  return { scale, x: (boxWidth - width * scale) / 2, y: (boxHeight - height * scale) / 2 };
};

/** What is under the point stays under it. */
export const zoomAt = (look: Look, by: number, x: number, y: number): Look => {
  const scale = Math.min(MOST, Math.max(LEAST, look.scale * by));
  const grown = scale / look.scale;
  return { scale, x: x - (x - look.x) * grown, y: y - (y - look.y) * grown };
};

export const shift = (look: Look, dx: number, dy: number): Look => ({ ...look, x: look.x + dx, y: look.y + dy });
