// Every panel: a heading, what it tells, a chart, a legend with values, and CSV and PNG to save.
import * as show from "./format.js";
import { saveCsv, savePng } from "./saving.js";
import { TimeChart, colour, dashOf, hatch, swatch } from "./timechart.js";
import { drawCurve, drawHeat } from "./canvas.js";

export function element(kind, given = {}, ...children) {
  const made = document.createElement(kind);
  for (const [key, value] of Object.entries(given)) {
    if (key === "text") made.textContent = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export class Panel {
  constructor(id, title, why, wide = false) {
    this.id = id; this.title = title;
    this.saves = element("div", { class: "saves" });
    this.body = element("div", { class: "plot" });
    this.legend = element("ul", { class: "legend", "aria-label": `${title}: values` });
    this.node = element("section", { class: wide ? "panel wide" : "panel", id: `panel-${id}`, "aria-labelledby": `title-${id}` },
      element("div", { class: "top" }, element("h2", { id: `title-${id}`, text: title }), this.saves),
      element("p", { class: "why", text: why }), this.body, this.legend);
    this.button("CSV", () => saveCsv(`headgate-${id}`, ...this.table()));
    this.button("PNG", () => this.canvas && savePng(`headgate-${id}`, `${title} – ${this.of}`, this.words(), this.canvas));
  }
  button(text, act) {
    this.saves.append(element("button", { type: "button", text, "aria-label": `Save ${this.title} as ${text}`, onclick: act }));
  }
  words() { return []; }
  destroy() {}
}

// Series over time.
export class TimePanel extends Panel {
  constructor(id, title, why, spec, marks) {
    super(id, title, why);
    this.spec = spec; this.marks = marks; this.plot = element("div", { role: "img" });
    this.body.append(this.plot);
    this.values = spec.lines.filter((line) => !line.hidden).map((line, place) => {
      const value = element("b", { text: show.none });
      this.legend.append(element("li", {}, swatch(line.dash ?? spec.lines.indexOf(line), line.colour, spec.stacked), element("span", { text: line.label }), value));
      return { line, value, place };
    });
    this.chart = new TimeChart(this.plot, spec, (at) => this.read(at), marks);
  }
  update(data) {
    this.series = data.series;
    this.chart.draw(this.series);
    this.read(null);
    const told = this.values.map(({ line, value }) => `${line.label} ${value.textContent}`).join(", ");
    const at = this.series.t || [];
    const span = at.length ? ` from ${show.moment(at[0])} to ${show.moment(at[at.length - 1])}` : "";
    this.plot.setAttribute("aria-label", `${this.title}${span}. Latest: ${told}.`);
  }
  read(at) {
    if (!this.series) return;
    for (const { line, value } of this.values) {
      const found = this.series[line.key] || [];
      const told = at === null || at === undefined ? found.findLast((each) => each !== null && each !== undefined) : found[at];
      value.textContent = (line.format || this.spec.format)(told ?? null);
    }
  }
  words() {
    const { lines, stacked } = this.spec;
    return this.values.map(({ line, value }) => {
      const place = lines.indexOf(line);
      return { text: `${line.label} ${value.textContent}`, colour: colour(line.colour), dash: stacked ? [] : dashOf(line.dash ?? place), fill: stacked ? hatch(colour(line.colour), place) : null };
    });
  }
  table() {
    const { t = [] } = this.series || {};
    const keys = this.spec.lines.map((line) => line.key);
    return [["time", ...keys], t.map((at, place) => [new Date(at * 1000).toISOString(), ...keys.map((key) => (this.series[key] || [])[place])])];
  }
  get canvas() { return this.chart.canvas; }
  destroy() { this.chart.destroy(); }
}

const HEATS = {
  recall: { column: 1, label: "recall", format: show.share, worst: Math.min, word: "lowest", limits: (values) => [Math.min(...values, 0.9), 1] },
  stored: { column: 2, label: "stored rows", format: show.count, worst: Math.max, word: "most", limits: (values) => [0, Math.max(...values, 1)] },
  time: { column: 3, label: "time a batch", format: (value) => show.seconds(value / 1000), worst: Math.max, word: "slowest", limits: (values) => [0, Math.max(...values, 1)] },
  rows: { column: 4, label: "rows a batch", format: show.count, worst: Math.max, word: "most", limits: (values) => [0, Math.max(...values, 1)] },
};
const HOT = 1.5, LATEST = 20;

// Shards against time; read with the mouse or with the arrow keys.
export class HeatPanel extends Panel {
  constructor(id, kinds) {
    super(id, "Shards over time", "One line a shard. A hot shard stands out: it has far more to do or keep than the others, or finds less.", true);
    this.kind = kinds[0];
    const choice = element("select", { "aria-label": "What the shards are coloured by", onchange: () => { this.kind = choice.value; this.redraw(); } });
    for (const kind of kinds) choice.append(element("option", { value: kind, text: HEATS[kind].label }));
    this.saves.prepend(choice);
    this.drawing = element("canvas", { tabindex: "0", role: "img" });
    this.drawing.addEventListener("mousemove", (event) => this.choose(this.at.place(event.offsetX, event.offsetY)));
    this.drawing.addEventListener("mouseleave", () => this.choose(null));
    this.drawing.addEventListener("blur", () => this.choose(null));
    this.drawing.addEventListener("keydown", (event) => this.key(event));
    this.body.classList.add("heat");
    this.body.append(this.drawing);
    this.readout = element("p", { class: "read", "aria-live": "polite" });
    this.legend.replaceWith(this.readout);
    this.observer = new ResizeObserver(() => this.redraw());
    this.observer.observe(this.body);
  }
  update(data) { this.data = data; this.redraw(); }
  grid() {
    const { t = [], shards = [] } = this.data.series;
    const kind = HEATS[this.kind];
    const numbers = [...new Set(shards.flatMap((rows) => (rows || []).map((row) => row[0])))].sort((a, b) => a - b);
    const place = new Map(numbers.map((number, row) => [number, row]));
    const values = numbers.map(() => t.map(() => null));
    shards.forEach((rows, column) => (rows || []).forEach((row) => { values[place.get(row[0])][column] = row[kind.column]; }));
    const all = values.flat().filter((value) => value !== null);
    const [low, high] = kind.limits(all);
    const latest = values.map(latestOf);
    return { t, shards: numbers, values, latest, low, high, format: kind.format, word: kind.word, hot: hottest(latest, kind) };
  }
  redraw() {
    if (!this.data || this.body.clientWidth < 60) return;
    this.shown = this.grid();
    this.at = drawHeat(this.drawing, this.body.clientWidth, this.shown, this.chosen);
    this.tell();
  }
  tell() {
    const { shards, t, values, hot, format, low, high, word } = this.shown;
    const { label } = HEATS[this.kind];
    const spot = hot < 0 ? "No shard stands out" : `Shard ${shards[hot]} stands out: ${word}`;
    this.drawing.setAttribute("aria-label", `${label} of ${shards.length} shards over time. ${spot}. Arrow keys read single values.`);
    const at = this.chosen;
    const value = at && values[at.row] && values[at.row][at.column];
    this.readout.textContent = at && values[at.row] && t[at.column] !== undefined
      ? `${show.moment(t[at.column])}, shard ${shards[at.row]}: ${label} ${value === null ? "not known" : format(value)}`
      : `${spot}. From ${format(low)} (faint) to ${format(high)} (strong)${values.flat().includes(null) ? ", blank where not known" : ""}; on the right the mean of the latest ${Math.min(LATEST, t.length)}.`;
  }
  choose(at) { this.chosen = at; this.redraw(); }
  key(event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (!moves[event.key] || !this.shown.t.length) return;
    event.preventDefault();
    const now = this.chosen || { column: this.shown.t.length, row: 0 };
    const within = (value, most) => Math.min(Math.max(value, 0), most - 1);
    this.choose({
      column: within(now.column + moves[event.key][0], this.shown.t.length),
      row: within(now.row + moves[event.key][1], this.shown.shards.length),
    });
  }
  words() { return [{ text: this.readout.textContent }]; }
  table() {
    const { t, shards, values } = this.shown;
    return [["time", ...shards.map((number) => `shard ${number}`)], t.map((at, column) => [new Date(at * 1000).toISOString(), ...values.map((row) => row[column])])];
  }
  get canvas() { return this.drawing; }
  destroy() { this.observer.disconnect(); }
}

function latestOf(row) {
  const told = row.slice(-LATEST).filter((value) => value !== null);
  return told.length ? told.reduce((a, b) => a + b, 0) / told.length : null;
}

// The shard that is far from the others of late, or none.
function hottest(latest, kind) {
  const told = latest.filter((value) => value !== null);
  if (told.length < 2) return -1;
  const worst = kind.worst(...told), place = latest.indexOf(worst);
  const rest = told.toSpliced(told.indexOf(worst), 1);
  const usual = rest.reduce((a, b) => a + b, 0) / rest.length;
  const far = kind.worst === Math.min ? 1 - worst > HOT * (1 - usual) && usual - worst > 0.02 : worst > HOT * usual;
  return far ? place : -1;
}

// Recall expected with less and more memory.
export class CurvePanel extends Panel {
  constructor(id) {
    super(id, "What more memory would bring", "Recall expected with a quarter to four times the memory, from models of the streams, calibrated with the recall that was measured.");
    this.drawing = element("canvas", { role: "img" });
    this.nothing = element("p", { class: "none", text: "Not known yet: the models of the streams are still being learned." });
    this.body.append(this.drawing, this.nothing);
    this.observer = new ResizeObserver(() => this.redraw());
    this.observer.observe(this.body);
  }
  update(data) {
    this.points = (data.now && data.now.curve) || [];
    this.inBytes = data.now && data.now.use ? data.now.use[2] : true;
    this.redraw();
  }
  redraw() {
    if (!this.points) return;
    this.drawing.hidden = !this.points.length; this.nothing.hidden = this.points.length > 0;
    if (!this.points.length || this.body.clientWidth < 60) return;
    const format = this.inBytes ? show.bytes : show.count;
    drawCurve(this.drawing, this.body.clientWidth, this.points, format);
    const told = this.points.map(([times, memory, recall]) => `${times} times (${format(memory)}${this.inBytes ? "" : " rows"}): ${recall.toFixed(2)}`);
    this.drawing.setAttribute("aria-label", `Recall by memory. ${told.join("; ")}.`);
  }
  table() { return [["times the memory", this.inBytes ? "bytes" : "rows", "expected recall"], this.points]; }
  get canvas() { return this.points && this.points.length ? this.drawing : null; }
  destroy() { this.observer.disconnect(); }
}

// How policies do on trial, as bars; the one that is followed is marked.
export class RivalPanel extends Panel {
  constructor(id, asked) {
    super(id, "Policies on trial", `Asked for: ${asked}. Matches that each policy made on the same sample of rows, the best is 100 %; ▶ marks what is followed now.`);
    this.rows = element("tbody");
    this.body.append(element("table", { class: "bars" }, element("caption", { class: "hidden", text: "Policies on trial" }),
      element("thead", { class: "hidden" }, element("tr", {}, ...["policy", "share", "of the best"].map((text) => element("th", { scope: "col", text })))), this.rows));
    this.nothing = element("p", { class: "none", text: "No trial: memory has not run full yet, or the budget is too small to try others beside." });
    this.body.append(this.nothing);
    this.saves.lastChild.remove();
  }
  update({ series, now }) {
    const rivals = Object.entries((now && now.rivals) || {}).sort((a, b) => b[1] - a[1]);
    this.found = rivals;
    const last = (name) => (series[`followed_${name}`] || []).at(-1) || 0;
    const best = Math.max(...rivals.map(([, made]) => made), 1e-9);
    this.nothing.hidden = rivals.length > 0;
    this.rows.replaceChildren(...rivals.map(([name, made]) => {
      const shards = last(name), part = made / best;
      const meter = element("meter", { min: "0", max: "1", "aria-label": `${name} ${Math.round(100 * part)} percent of the best` });
      meter.value = part;
      return element("tr", shards ? { class: "now" } : {},
        element("th", { scope: "row", text: `${shards ? "▶ " : ""}${name.toUpperCase()}${shards ? ` (${shards} ${shards === 1 ? "shard" : "shards"})` : ""}` }),
        element("td", {}, meter), element("td", { class: "value", text: `${Math.round(100 * part)} %` }));
    }));
  }
  table() { return [["policy", "matches on trial"], this.found || []]; }
  get canvas() { return null; }
}

// Starts, ends, changes of policy and of limits.
export class EventPanel extends Panel {
  constructor(id) {
    super(id, "What happened", "Starts and ends of the query, other policies, other limits; flags in the charts mark the same moments.", true);
    this.list = element("ul", { class: "events", tabindex: "0", "aria-label": "Events, latest first" });
    this.body.append(this.list);
    this.saves.lastChild.remove();
  }
  update({ events = [] }) {
    this.found = events;
    this.list.replaceChildren(...events.slice(-60).reverse().map(([at, what]) => element("li", {}, element("time", { text: show.moment(at) }), element("span", { text: what }))));
    if (!events.length) this.list.append(element("li", { text: "nothing yet" }));
  }
  table() { return [["time", "what"], (this.found || []).map(([at, what]) => [new Date(at * 1000).toISOString(), what])]; }
  get canvas() { return null; }
}
