// Counters, gauges and histograms in the text form of Prometheus. What is counted costs a lookup and an addition; text is made
// only when it is asked for.
//   MR1. The number of series is bounded. A label that comes from users has a limit of distinct values; further ones are counted
//        together under "other", so totals stay right.
//   MR2. A value that cannot be read at the moment is left out; it never fails the page.

export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(labels?: Labels): void;
}

export interface Histogram {
  observe(seconds: number, labels?: Labels): void;
}

export interface Sample {
  readonly labels?: Labels | undefined;
  readonly value: number;
}

export interface MetricText {
  readonly name: string;
  readonly help: string;
}

export interface MetricRegistry {
  counter(text: MetricText): Counter;
  histogram(text: MetricText): Histogram;
  /** Read when the page is made; `counter` for a number that only grows and is counted elsewhere. */
  read(text: MetricText & { readonly type?: "gauge" | "counter" | undefined }, samples: () => readonly Sample[]): void;
  render(): string;
}

/** From a call that meets a waiting service to a tool that takes minutes. */
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 300] as const;

const escapeLabel = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

const labelText = (labels: Labels | undefined): string =>
  Object.entries(labels ?? {})
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(",");

// NUL stands in no name, so two series never share a key. The text of the labels is made when the page is. Most metrics have one
// label: its value is the key, and no text is made.
const seriesKey = (labels: Labels | undefined): string => {
  let key: string | undefined;
  for (const name in labels) key = key === undefined ? labels[name] : `${key}\u0000${labels[name]}`;
  return key ?? "";
};

/** The series of one metric, which all have labels of the same names. */
class SeriesMap<Value> {
  readonly #found = new Map<string, { readonly labels: Labels | undefined; value: Value }>();

  entry(labels: Labels | undefined, first: () => Value): { value: Value } {
    const key = seriesKey(labels);
    const found = this.#found.get(key);
    if (found !== undefined) return found;
    const made = { labels, value: first() };
    this.#found.set(key, made);
    return made;
  }

  render(one: (labels: string, value: Value) => string): string {
    return [...this.#found.values()].map(({ labels, value }) => one(labelText(labels), value)).join("");
  }
}

const line = (name: string, labels: string, value: number): string =>
  `${name}${labels === "" ? "" : `{${labels}}`} ${value}\n`;

const head = ({ name, help }: MetricText, type: string): string => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

interface Distribution {
  readonly counts: number[];
  sum: number;
  count: number;
}

const emptyDistribution = (): Distribution => ({ counts: BUCKETS.map(() => 0), sum: 0, count: 0 });

const renderDistribution = (name: string, labels: string, { counts, sum, count }: Distribution): string => {
  const rest = labels === "" ? "" : `,${labels}`;
  let below = 0;
  const buckets = BUCKETS.map((bound, index) => {
    below += counts[index] ?? 0;
    return `${name}_bucket{le="${bound}"${rest}} ${below}\n`;
  });
  return [
    ...buckets,
    `${name}_bucket{le="+Inf"${rest}} ${count}\n`,
    line(`${name}_sum`, labels, sum),
    line(`${name}_count`, labels, count),
  ].join("");
};

export const createMetricRegistry = (): MetricRegistry => {
  const parts: (() => string)[] = [];
  return {
    counter(text) {
      const series = new SeriesMap<number>();
      parts.push(() => head(text, "counter") + series.render((labels, value) => line(text.name, labels, value)));
      return {
        add(labels) {
          series.entry(labels, () => 0).value += 1;
        },
      };
    },
    histogram(text) {
      const series = new SeriesMap<Distribution>();
      parts.push(
        () =>
          head(text, "histogram") +
          series.render((labels, distribution) => renderDistribution(text.name, labels, distribution)),
      );
      return {
        observe(seconds, labels) {
          const { value } = series.entry(labels, emptyDistribution);
          const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
          if (bucket >= 0) value.counts[bucket] = (value.counts[bucket] ?? 0) + 1;
          value.sum += seconds;
          value.count += 1;
        },
      };
    },
    read(text, samples) {
      parts.push(() => {
        const lines = samples()
          .filter(({ value }) => Number.isFinite(value))
          .map(({ labels, value }) => line(text.name, labelText(labels), value));
        return head(text, text.type ?? "gauge") + lines.join("");
      });
    },
    render: () => parts.map((part) => part()).join(""),
  };
};

/** MR1: the first `most` distinct values as they are, and "other" for all further ones. */
export const createLabelLimit = (most: number): ((value: string) => string) => {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= most) return "other";
    known.add(value);
    return value;
  };
};
