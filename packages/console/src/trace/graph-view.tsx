// The graph of a trace: it can be moved and zoomed with the pointer, with buttons and with the keyboard.

import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { toneOf } from "../parts/status.tsx";
import { type Place, pathTo } from "../router/place.ts";
import { goTo } from "../router/use-place.tsx";
import { cutText, visibleText } from "../text/visible-text.ts";
import { type DrawnNode, layoutGraph, NODE_HEIGHT } from "./graph-layout.ts";
import type { TraceNode } from "./trace-body.ts";
import { fitWhole, type Look, STEP, shift, zoomAt } from "./zoom.ts";

const NAME_CHARS = 18;
const KEY_PX = 40;
const BOX_HEIGHT = 320;

const placeOf = (project: string, node: TraceNode): Place | undefined =>
  node.kind === "step" ? undefined : { kind: node.kind, project, id: node.id };

type NameOf = (node: TraceNode) => string;

const shortName = ({ node, number }: DrawnNode, nameOf: NameOf): string => {
  if (node.kind === "step") return `step ${number}`;
  const name = visibleText(nameOf(node));
  return name.length <= NAME_CHARS ? name : `${cutText(name, NAME_CHARS - 1)}…`;
};

interface BoxProps {
  readonly drawn: DrawnNode;
  readonly project: string;
  readonly nameOf: NameOf;
}

const Box = ({ drawn, project, nameOf }: BoxProps): ReactNode => {
  const { node, x, y, width } = drawn;
  const place = placeOf(project, node);
  const shape = (
    <g className={`graph-node ${node.kind} ${toneOf(node.status)}`} transform={`translate(${x} ${y})`}>
      <rect width={width} height={NODE_HEIGHT} rx={node.kind === "turn" ? NODE_HEIGHT / 2 : 5} />
      <text x={node.kind === "step" ? width / 2 : 14} y={NODE_HEIGHT / 2} dominantBaseline="central">
        {shortName(drawn, nameOf)}
      </text>
      <title>{`${node.kind} ${visibleText(nameOf(node))}: ${node.status}`}</title>
    </g>
  );
  if (place === undefined) return shape;
  return (
    <a
      href={pathTo(place)}
      aria-label={`${node.kind} ${visibleText(nameOf(node))}, ${node.status}`}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        goTo(place);
      }}
    >
      {shape}
    </a>
  );
};

interface GraphViewProps {
  readonly project: string;
  readonly roots: readonly TraceNode[];
  readonly label: string;
  readonly nameOf: NameOf;
}

export const GraphView = ({ project, roots, label, nameOf }: GraphViewProps): ReactNode => {
  const graph = useMemo(() => layoutGraph(roots), [roots]);
  const svg = useRef<SVGSVGElement>(null);
  const [look, setLook] = useState<Look>();
  const [width, setWidth] = useState(800);
  const drag = useRef<{ x: number; y: number } | undefined>(undefined);

  useEffect(() => {
    const place = svg.current;
    if (place === null) return;
    const watch = new ResizeObserver(() => setWidth(place.clientWidth || 1));
    watch.observe(place);
    // React listens passively, and then the page would be zoomed instead.
    const wheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = place.getBoundingClientRect();
      const by = Math.exp(-event.deltaY / 300);
      setLook((before) => before && zoomAt(before, by, event.clientX - box.left, event.clientY - box.top));
    };
    place.addEventListener("wheel", wheel, { passive: false });
    return () => {
      watch.disconnect();
      place.removeEventListener("wheel", wheel);
    };
  }, []);

  const height = Math.min(BOX_HEIGHT, Math.max(graph.height + 24, 90));
  const whole = fitWhole(graph.width, graph.height, width - 24, height - 16);
  const current = look ?? shift(whole, 12, 8);
  const zoom = (by: number): void => setLook(zoomAt(current, by, width / 2, height / 2));
  const keys = (event: KeyboardEvent): void => {
    const moves: Readonly<Record<string, () => void>> = {
      "+": () => zoom(STEP),
      "-": () => zoom(1 / STEP),
      "0": () => setLook(undefined),
      ArrowLeft: () => setLook(shift(current, KEY_PX, 0)),
      ArrowRight: () => setLook(shift(current, -KEY_PX, 0)),
      ArrowUp: () => setLook(shift(current, 0, KEY_PX)),
      ArrowDown: () => setLook(shift(current, 0, -KEY_PX)),
    };
    const move = moves[event.key];
    if (move === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    move();
  };
  const down = (event: PointerEvent): void => {
    drag.current = { x: event.clientX, y: event.clientY };
    if (look === undefined) setLook(current);
  };
  const moved = (event: PointerEvent): void => {
    const from = drag.current;
    if (from === undefined) return;
    if (event.buttons === 0) {
      drag.current = undefined;
      return;
    }
    drag.current = { x: event.clientX, y: event.clientY };
    setLook((before) => before && shift(before, event.clientX - from.x, event.clientY - from.y));
  };
  return (
    <div className="graph">
      <div className="graph-tools">
        <button type="button" className="button quiet" onClick={() => zoom(STEP)} aria-label="Zoom in">
          +
        </button>
        <button type="button" className="button quiet" onClick={() => zoom(1 / STEP)} aria-label="Zoom out">
          −
        </button>
        <button type="button" className="button quiet" onClick={() => setLook(undefined)}>
          Whole
        </button>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing is not a fieldset */}
      <svg
        ref={svg}
        role="group"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys and + and - move the drawing
        tabIndex={0}
        style={{ height }}
        onKeyDown={keys}
        onPointerDown={down}
        onPointerMove={moved}
      >
        <g transform={`translate(${current.x} ${current.y}) scale(${current.scale})`}>
          {graph.edges.map(({ from, to, path }) => (
            <path key={`${from} ${to}`} d={path} className="graph-edge" />
          ))}
          {graph.nodes.map((drawn) => (
            <Box key={drawn.node.id} drawn={drawn} project={project} nameOf={nameOf} />
          ))}
        </g>
      </svg>
      {graph.left > 0 && <p className="note">{`${graph.left} more are not drawn.`}</p>}
    </div>
  );
};
