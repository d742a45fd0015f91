// chart - the drawings: bars over time, a histogram with thresholds, sparklines. Each has a text beside it.
import { amount, clockOf, count, dateOf, el, monthOf, short, svg, weekdayOf } from "./dom.js";
import { t } from "./language.js";

const LEFT = 44, BOTTOM = 20, TOP = 14;
const MARKS = 3 * TOP; // room for the names of thresholds

function label(x, y, words, anchor = "middle") {
  return svg("text", { x, y, "text-anchor": anchor, class: "label" }, words);
}

// A round number of at least n whose half is round too.
function roundUp(n) {
  const ten = 10 ** Math.floor(Math.log10(Math.max(n, 1)));
  return [1, 2, 4, 5, 10].map((m) => m * ten).find((m) => m >= n && (m > 1 || n <= 1)) ?? 10 * ten;
}

function frame(width, height, words) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": words, class: "chart" });
}

// The labels of an axis of time, in local time: name of a period, then how far apart they stand at a width.
const TICKS = {
  day: (date, width) => date.getMinutes() === 0 && date.getHours() % (width < 480 ? 6 : width < 800 ? 4 : 2) === 0 && clockOf(date / 1000),
  week: (date) => date.getHours() === 0 && weekdayOf(date / 1000),
  month: (date, width) => date.getHours() === 0 && date.getDate() % (width < 480 ? 10 : 5) === 1 && date.getDate() < 31 && dateOf(date / 1000),
  year: (date, width) => date.getUTCDate() === 1 && date.getUTCMonth() % (width < 480 ? 3 : 1) === 0 && monthOf(date / 1000),
  years: (date, width) => date.getUTCDate() === 1 && date.getUTCMonth() % (width < 480 ? 6 : 3) === 0 && monthOf(date / 1000),
};
// The first label of the times that a bar stands for; "": none.
function tickOf(period, b, step_s, width) {
  for (let at = b.at; at < b.at + b.seconds; at += step_s) {
    const words = TICKS[period](new Date(at * 1000), width);
    if (words) return words;
  }
  return "";
}
// A bar is at least two pixels wide: neighbours are added up.
export function grouped(buckets, width, names, seconds) {
  const step = Math.max(1, Math.ceil(buckets.length / Math.max(Math.floor((width - LEFT) / 2), 1)));
  const bars = [];
  for (let i = buckets.length % step - step; i < buckets.length; i += step) {
    const part = buckets.slice(Math.max(i, 0), i + step);
    if (part.length === 0) continue;
    const sums = Object.fromEntries(names.map((name) => [name, part.reduce((n, b) => n + b[name], 0)]));
    bars.push({ at: part[0].at, seconds: part.length * seconds, ...sums });
  }
  return bars;
}

// bars: [{at, seconds, NAME: n}] in order of time; series: names from below to above; step_s: of the buckets.
export function stacked(width, height, bars, series, words, { period = "day", step_s = 600 } = {}) {
  const chart = frame(width, height, words);
  const sum = (b) => series.reduce((n, s) => n + b[s], 0);
  const top = roundUp(Math.max(1, ...bars.map(sum)));
  const plot = { w: width - LEFT, h: height - BOTTOM - TOP };
  const step = plot.w / Math.max(bars.length, 1);
  const y = (n) => TOP + plot.h - (n / top) * plot.h;

  for (const n of top === 1 ? [0, 1] : [0, top / 2, top]) {
    chart.append(svg("line", { x1: LEFT, x2: width, y1: y(n), y2: y(n), class: n === 0 ? "axis" : "grid" }),
      label(LEFT - 6, y(n) + 4, short(n), "end"));
  }
  bars.forEach((b, i) => {
    const x = LEFT + i * step;
    const tick = x + 18 < width && x > LEFT + 14 ? tickOf(period, b, step_s, width) : "";
    if (tick) chart.append(label(x, height - 5, tick));
    let below = 0;
    for (const s of series) {
      if (b[s] > 0) {
        chart.append(svg("rect", {
          x: x.toFixed(2), width: Math.max(step - 0.8, 0.8).toFixed(2), y: y(below + b[s]).toFixed(2),
          height: Math.max(y(below) - y(below + b[s]), 0.5).toFixed(2), class: `fill-${s}`,
        }));
        below += b[s];
      }
    }
  });
  return chart;
}
// Index of the bucket at x; null: none.
export const bucketAt = (x, width, n) => {
  const i = Math.floor(((x - LEFT) / (width - LEFT)) * n);
  return i >= 0 && i < n ? i : null;
};

// bins: [{from, to, n, action}] with from/to null at the open ends; marks: [{at, name}]. The scale is logarithmic:
// nearly all mail has one score, and the others matter.
export function histogram(width, height, bins, marks, words) {
  const chart = frame(width, height, words);
  const plot = { w: width - LEFT, h: height - BOTTOM - MARKS };
  const step = plot.w / Math.max(bins.length, 1);
  const decades = Math.max(1, Math.ceil(Math.log10(Math.max(1, ...bins.map((b) => b.n)) + 1)));
  const y = (n) => MARKS + plot.h - (Math.log10(n + 1) / decades) * plot.h;
  const x = (score) => {
    const i = bins.findIndex((b) => b.to === null || score < b.to);
    const b = bins[i];
    const part = !b || b.from === null || b.to === null ? 0 : (score - b.from) / (b.to - b.from);
    return LEFT + (Math.max(i, 0) + Math.max(0, part)) * step;
  };

  for (let d = 0; d <= decades; d++) {
    const n = d === 0 ? 0 : 10 ** d;
    chart.append(svg("line", { x1: LEFT, x2: width, y1: y(n), y2: y(n), class: d === 0 ? "axis" : "grid" }),
      label(LEFT - 6, y(n) + 4, short(n), "end"));
  }
  let next = -Infinity;
  bins.forEach((b, i) => {
    if (b.n > 0) {
      chart.append(svg("rect", {
        x: (LEFT + i * step + 0.4).toFixed(2), width: Math.max(step - 0.8, 0.8).toFixed(2), y: y(b.n).toFixed(2),
        height: Math.max(y(0) - y(b.n), 1).toFixed(2), class: `fill-${b.action}`,
      }));
    }
    const at = LEFT + i * step;
    if (b.from !== null && b.from % 5 === 0 && at >= next && at < width - 8) {
      chart.append(label(at, height - 5, String(b.from)));
      next = at + 34;
    }
  });
  const ends = [], names = []; // of the labels, row by row
  for (const m of marks) {
    const at = x(m.at);
    const words = `${m.name} ${m.at}`;
    const wide = words.length * 6.5 + 8;
    const isLast = at + wide > width;
    let row = ends.findIndex((end) => end < (isLast ? at - wide : at));
    if (row < 0) row = ends.length;
    ends[row] = isLast ? at : at + wide;
    chart.append(svg("line", { x1: at, x2: at, y1: 2 + TOP * row, y2: y(0), class: "mark" }));
    names.push(label(isLast ? at - 4 : at + 4, 11 + TOP * row, words, isLast ? "end" : "start"));
  }
  chart.append(...names);
  return chart;
}

// values: the oldest first.
export function spark(values, words) {
  const v = Array.isArray(values) ? values.map(amount) : [];
  if (v.length === 0) return el("span", { class: "muted" }, "–");
  const width = 96, height = 22;
  const top = Math.max(1, ...v);
  const chart = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "spark",
    "aria-label": t("{what}: {last} at the end, at most {most}", { what: words, last: count(v.at(-1)), most: count(Math.max(0, ...v)) }),
  });
  const step = width / v.length;
  let line = `M0 ${height}`;
  v.forEach((n, i) => {
    const y = (height - 1 - (n / top) * (height - 3)).toFixed(1);
    line += `V${y}H${((i + 1) * step).toFixed(1)}`;
  });
  chart.append(svg("path", { d: `${line}V${height}Z` }));
  return chart;
}

// A score beside the thresholds. marks: {ACTION: number or null}.
export function scoreBar(score, action, marks) {
  const at = Object.values(marks).filter((n) => Number.isFinite(n) && n > 0);
  const most = 1.25 * Math.max(8, ...at);
  const place = (n) => Math.max(0, Math.min(100, (n / most) * 100)).toFixed(1);
  return svg("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", class: "bar score", "aria-hidden": "true" },
    svg("rect", { width: 100, height: 8, class: "room" }), svg("rect", { width: place(score), height: 8, class: `fill-${action}` }),
    ...at.map((n) => svg("rect", { x: place(n), width: 1, height: 8, class: "limit" })));
}

// A share of a whole as a bar, beside its text.
export function bar(part, kind = "") {
  const wide = Math.max(0, Math.min(1, Number.isFinite(part) ? part : 0)) * 100;
  return svg("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", class: `bar ${kind}`, "aria-hidden": "true" },
    svg("rect", { width: 100, height: 8, class: "room" }), svg("rect", { width: wide.toFixed(2), height: 8, class: "part" }));
}
