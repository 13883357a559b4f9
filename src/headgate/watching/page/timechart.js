// One chart over time: lines with dashes of their own, bands, areas stacked with patterns.
/* global uPlot */
const FEW = 12;
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 4], [12, 5], [1, 3], [6, 2, 2, 2]];
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
export const dashOf = (place) => DASHES[place % DASHES.length];

// Hatching tells stacked areas apart without their colours.
export function hatch(paint, place) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 10;
  const draw = tile.getContext("2d");
  draw.globalAlpha = 0.38;
  draw.fillStyle = paint;
  draw.fillRect(0, 0, 10, 10);
  draw.globalAlpha = 1;
  draw.strokeStyle = draw.fillStyle = paint;
  draw.lineWidth = 1.5;
  draw.beginPath();
  const kind = place % 5;
  if (kind === 1) { draw.moveTo(0, 10); draw.lineTo(10, 0); draw.moveTo(-2, 2); draw.lineTo(2, -2); draw.moveTo(8, 12); draw.lineTo(12, 8); }
  if (kind === 2) { draw.moveTo(0, 5); draw.lineTo(10, 5); }
  if (kind === 3) { draw.arc(5, 5, 1.6, 0, 7); draw.fill(); }
  if (kind === 4) { draw.moveTo(5, 0); draw.lineTo(5, 10); }
  draw.stroke();
  return draw.createPattern(tile, "repeat");
}

export function swatch(place, name, stacked) {
  const box = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  box.setAttribute("width", "26"); box.setAttribute("height", "12"); box.setAttribute("aria-hidden", "true");
  const line = document.createElementNS("http://www.w3.org/2000/svg", stacked ? "rect" : "line");
  const given = stacked
    ? { x: 1, y: 1, width: 24, height: 10, fill: colour(name), "fill-opacity": 0.38, stroke: colour(name), "stroke-width": 1.5 }
    : { x1: 0, y1: 6, x2: 26, y2: 6, stroke: colour(name), "stroke-width": 2.5, "stroke-dasharray": dashOf(place).join(" ") };
  for (const [key, value] of Object.entries(given)) line.setAttribute(key, value);
  box.append(line);
  if (stacked && place % 5) {
    const mark = document.createElementNS("http://www.w3.org/2000/svg", "path");
    const paths = { 1: "M2 11L12 1M10 11L20 1M18 11L25 4", 2: "M1 6H25", 3: "M6 6h2M12 6h2M18 6h2", 4: "M7 1V11M13 1V11M19 1V11" };
    mark.setAttribute("d", paths[place % 5]); mark.setAttribute("stroke", colour(name)); mark.setAttribute("stroke-width", "1.5"); mark.setAttribute("fill", "none");
    box.append(mark);
  }
  return box;
}

export class TimeChart {
  // lines: {key, label, colour, unit(value), hidden}; band: [key of the upper, key of the lower].
  constructor(place, { lines, format, axisFormat, range, stacked = false, band = null, height = 190 }, onCursor, marks) {
    this.spec = { lines, format, axisFormat, range, stacked, band, height };
    this.place = place; this.onCursor = onCursor; this.marks = marks;
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(place);
  }

  columns(series) {
    const { lines, stacked } = this.spec;
    const at = series.t || [];
    const found = lines.map((line) => series[line.key] || at.map(() => null));
    if (!stacked) return [at, ...found];
    const sums = at.map(() => 0), columns = [];
    for (const values of found) {
      values.forEach((value, place) => { sums[place] += value || 0; });
      // Where nothing is known, there is nothing to draw.
      columns.push(sums.map((sum, place) => (found.every((each) => each[place] === null) ? null : sum)));
    }
    return [at, ...columns];
  }

  // The viewer's own way to write times; the day where it changes.
  times(chart, splits) {
    const span = splits.length > 1 ? splits[splits.length - 1] - splits[0] : 0;
    const clock = new Intl.DateTimeFormat(undefined, span < 300 ? { hour: "2-digit", minute: "2-digit", second: "2-digit" } : { hour: "2-digit", minute: "2-digit" });
    const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
    let before = "";
    return splits.map((at) => {
      const now = day.format(new Date(at * 1000));
      const isNew = now !== before;
      before = now;
      if (span > 3 * 86400) return isNew ? now : "";
      return `${clock.format(new Date(at * 1000))}${isNew ? `\n${now}` : ""}`;
    });
  }

  draw(series) {
    const data = this.columns(series);
    if (this.chart) this.chart.setData(data);
    else this.chart = this.make(data);
  }

  make(data) {
    const { lines, format, axisFormat = format, range, stacked, band, height } = this.spec;
    const axis = { stroke: colour("soft"), grid: { stroke: colour("grid"), width: 1 }, ticks: { stroke: colour("grid"), size: 4 }, font: "12px system-ui, sans-serif" };
    const bands = [];
    if (stacked) for (let place = lines.length; place > 1; place -= 1) bands.push({ series: [place, place - 1], fill: hatch(colour(lines[place - 1].colour), place - 1) });
    if (band) bands.push({ series: band.map((key) => 1 + lines.findIndex((line) => line.key === key)), fill: colour("band") });
    const options = {
      width: Math.max(this.place.clientWidth, 120), height,
      legend: { show: false }, padding: [null, 22, null, null],
      cursor: { y: false, points: { size: 7 } },
      scales: { x: { time: true }, y: { range: range || ((u, low, high) => [0, high > 0 ? high * 1.08 : 1]) } },
      axes: [{ ...axis, space: 95, values: (u, ticks) => this.times(u, ticks) }, { ...axis, size: 62, values: (u, ticks) => ticks.map((tick) => axisFormat(tick)) }],
      series: [{}, ...lines.map((line, place) => ({
        label: line.label, spanGaps: true,
        // A line needs two batches to be seen.
        points: { show: (u) => !line.hidden && u.data[0].length <= FEW, size: 6, fill: colour(line.colour) },
        stroke: line.hidden ? "transparent" : colour(line.colour),
        width: line.hidden ? 0 : stacked ? 1.2 : 2,
        dash: stacked ? undefined : dashOf(line.dash ?? place),
        fill: stacked && place === 0 ? hatch(colour(line.colour), 0) : undefined,
      }))],
      bands,
      hooks: { setCursor: [(u) => this.onCursor(u.cursor.idx)], draw: [(u) => this.drawMarks(u)] },
    };
    return new uPlot(options, data, this.place);
  }

  // Events: a dashed line with a small flag.
  drawMarks(chart) {
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.strokeStyle = colour("soft"); ctx.fillStyle = colour("soft");
    ctx.setLineDash([3, 4]); ctx.lineWidth = 1;
    for (const [at] of this.marks()) {
      const x = chart.valToPos(at, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
      ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x + 7, bbox.top + 4); ctx.lineTo(x, bbox.top + 8); ctx.fill();
    }
    ctx.restore();
  }

  fit() {
    if (this.chart && this.place.clientWidth > 50) this.chart.setSize({ width: this.place.clientWidth, height: this.spec.height });
  }

  get canvas() { return this.chart && this.chart.ctx.canvas; }
  destroy() { this.observer.disconnect(); if (this.chart) this.chart.destroy(); }
}
