// Loads what the chosen join has reported, draws it, and adds every new batch.
import * as show from "./format.js";
import { LiveStream } from "./live.js";
import { CurvePanel, EventPanel, HeatPanel, RivalPanel, TimePanel, element } from "./panels.js";

const $ = (id) => document.getElementById(id);
const LOSSES = [
  ["shed", "evicted within their window", "c1"], ["refused", "refused: worth less than stored rows", "c2"],
  ["late", "late", "c3"], ["unprobed", "not probed (CPU)", "c4"], ["unstored", "not stored (CPU)", "c5"],
  ["undecided", "undecided", "c6"], ["unchosen", "not in the sample", "c8"],
];
const QUIET_S = 60, MOST_POINTS = 720;
const AGAIN_MS = 1500;
let data = null, panels = [], waiting = false, loads = 0, isLoading = false, hasNews = false, mayRead = true, timer = 0;
const live = new LiveStream("live", hear, load, status);

const line = (key, label, paint, more = {}) => ({ key, label, colour: paint, ...more });
const has = (key) => (data.series[key] || []).some((value) => value);
const last = (key) => (data.series[key] || []).findLast((value) => value !== null && value !== undefined) ?? null;
const marks = () => data.events || [];
const between = (low, high) => () => [low, high];

function recallRange(chart, low) {
  return [Math.max(Math.min(Math.floor((low ?? 0) * 10) / 10, 0.9), 0), 1.02];
}

function timePanel(id, title, why, spec) { return new TimePanel(id, title, why, spec, marks); }

function memoryPanel() {
  const inBytes = data.now.use ? data.now.use[2] : true;
  const isCache = data.join.about.kind === "lookup";
  const used = isCache ? "cached" : inBytes ? "stored, with reserve and monitor" : "stored rows";
  if (!has("budget")) return timePanel("memory", "Memory", "What the join holds; nothing limits it.", { lines: [line("used", used, "c1")], format: show.bytes });
  const lines = [line("used", used, "c1"), line("budget", "budget", "c7", { dash: 1 })];
  return timePanel("memory", inBytes ? "Memory under its budget" : `${isCache ? "Cached" : "Stored"} rows under their budget`, `What the ${isCache ? "cache" : "join"} holds, and what it may hold.`, { lines, format: inBytes ? show.bytes : show.count });
}

function joinPanels(about) {
  const made = [];
  if (about.goal !== "Sample") {
    made.push(timePanel("recall", "Recall", "Share of the exact result that was made. The band holds the truth with 95 % confidence.", {
      lines: [line("total_recall", "since it began", "c1"), line("recall", "in the batch", "c3", { dash: 2 }),
        line("total_recall_high", "upper end", "c1", { hidden: true }), line("total_recall_low", "lower end", "c1", { hidden: true })],
      band: ["total_recall_high", "total_recall_low"], format: show.share, axisFormat: (tick) => tick.toFixed(2), range: recallRange }));
  } else {
    made.push(timePanel("sample", "Error of the sample", "95 % error of a count over one batch: rows sampled together count as one.", { lines: [line("sample_error", "error of a count", "c1")], format: show.percent }));
  }
  made.push(memoryPanel());
  made.push(timePanel("losses", "Why rows are missing", "Rows a second that were given up or dropped, by cause, stacked. Not each of them costs a result.", {
    lines: LOSSES.filter(([key], place) => place < 2 || has(`${key}_s`)).map(([key, label, paint]) => line(`${key}_s`, label, paint)), format: show.rate, stacked: true }));
  if (about.goal === "Sample") made.push(timePanel("weights", "Weights", "How many rows of the exact result a sampled row stands for.", { lines: [line("mean_weight", "rows a sampled row stands for", "c2")], format: show.count }));
  else if (has("budget")) made.push(new CurvePanel("curve"));
  made.push(new HeatPanel("shards", about.goal === "Sample" ? ["stored", "time", "rows"] : ["recall", "stored", "time", "rows"]));
  made.push(timePanel("rates", "Rows a second", "Rows that came on both sides, and result rows.", { lines: [line("rows_s", "rows in", "c1"), line("results_s", "results", "c2", { dash: 1 })], format: show.rate }));
  if (about.policy === "auto" && about.goal !== "Sample" && has("budget")) made.push(new RivalPanel("rivals", about.policy));
  if (about.cpu) made.push(timePanel("cpu", "Processor time", "Cores that the join's tasks took, under their budget.", { lines: [line("cpu", "used", "c1"), line("cpu_budget", "budget", "c7", { dash: 1 })], format: show.cores, axisFormat: (tick) => String(Number(tick.toPrecision(3))) }));
  if (has("limit")) made.push(limitPanel());
  return made;
}

// Joins that share a budget: each limit at the times of this join.
function limitPanel() {
  const t = data.series.t;
  const lines = [line("limit", data.join.name, "c1")];
  (data.others || []).forEach((other, place) => {
    const key = `limit_${other.id}`;
    let at = -1;
    data.series[key] = t.map((moment) => {
      while (at + 1 < other.series.t.length && other.series.t[at + 1] <= moment) at += 1;
      return at < 0 ? null : other.series.limit[at];
    });
    lines.push(line(key, other.name, `c${2 + (place % 7)}`));
  });
  const inBytes = data.now.use ? data.now.use[2] : true;
  return timePanel("limits", "Limits in force", "What each join that shares the budget may store.", { lines, format: inBytes ? show.bytes : show.count });
}

function lookupPanels() {
  return [
    timePanel("hits", "Hit rate", "Share of the rows with a known key whose table row was cached.", { lines: [line("hit_rate", "hit rate", "c1")], format: show.share, axisFormat: (tick) => tick.toFixed(2), range: between(0, 1.02) }),
    memoryPanel(),
    timePanel("looked-up", "Rows looked up", "Rows a second: found in the cache, fetched, or not in the table; stacked.", { lines: [line("hits_s", "hits", "c1"), line("misses_s", "misses", "c2"), line("unknown_s", "unknown keys", "c3")], format: show.rate, stacked: true }),
    timePanel("queries", "Queries to the table", "Queries a second, and those tried again since the connection was lost.", { lines: [line("queries_s", "queries", "c1"), line("retries_s", "retries", "c7", { dash: 1 })], format: show.rate }),
    new HeatPanel("shards", ["rows", "stored", "time"]),
  ];
}

function build() {
  panels.forEach((panel) => panel.destroy());
  const { about } = data.join;
  panels = about.kind === "lookup" ? lookupPanels() : joinPanels(about);
  panels.push(timePanel("batches", "Batch time", "How long a batch took, from its trigger to its end.", { lines: [line("batch_s", "batch time", "c1")], format: show.seconds }));
  if (has("lag_s")) panels.push(timePanel("lag", "Watermark lag", "How far the watermark is behind the clock.", { lines: [line("lag_s", "lag", "c4")], format: show.seconds }));
  panels.push(new EventPanel("events"));
  $("panels").replaceChildren(...panels.map((panel) => panel.node));
  $("about").hidden = !about.call;
  $("call").textContent = about.call || "";
}

function tiles() {
  const { about } = data.join, use = data.now.use || [null, null, true];
  const amount = use[2] ? show.bytes : show.count;
  const lost = LOSSES.reduce((sum, [key]) => sum + (last(`${key}_s`) || 0), 0);
  const told = [[about.kind === "lookup" ? "Cached" : "Stored", amount(use[0]), use[1] ? `of ${amount(use[1])}${use[2] ? "" : " rows"}` : use[2] ? "" : "rows"],
    ["Rows in", show.rate(last("rows_s")), ""]];
  if (about.kind === "lookup") told.push(["Hit rate", show.share(last("hit_rate")), ""], ["Queries", show.rate(last("queries_s")), ""]);
  else told.push(["Results", show.rate(last("results_s")), ""], ["Missing rows", show.rate(lost), ""]);
  told.push(["Batch time", show.seconds(last("batch_s")), ""], ["Batch", show.count(last("batch")), ""]);
  if (has("lag_s")) told.push(["Watermark lag", show.seconds(last("lag_s")), ""]);
  $("tiles").replaceChildren(...told.map(([name, value, more]) => element("div", {}, element("dt", { text: name }), element("dd", { text: value }, element("small", { text: more ? ` ${more}` : "" })))));
}

function status() {
  if (!data) return;
  const { state } = data.join, at = data.now.at;
  const quiet = state === "running" && at && Date.now() / 1000 - at > Math.max(QUIET_S, 10 * (last("batch_s") || 0));
  const words = { running: "running", ended: "ended", failed: "ended with an error: see the query's own log" };
  const text = quiet ? `no batch for ${show.seconds(Date.now() / 1000 - at)}` : words[state] || state;
  const node = $("status"), word = node.querySelector(".word");
  const cut = mayRead ? "page disconnected" : "the page was started again: open its new link";
  const told = live.isCutOff ? `${text} when last heard of; ${cut}` : text;
  node.dataset.state = quiet || live.isCutOff ? "quiet" : state;
  if (word.textContent !== told) word.textContent = told;
  $("fold").textContent = `${data.join.title} · ${data.join.name}${at ? ` · last batch ${show.ago(at)}` : ""}`;
}

function draw() {
  waiting = false;
  $("sentence").textContent = data.now.sentence;
  document.title = `${data.now.sentence.split(/[;.](?:\s|$)/)[0]} – ${data.join.title}`;
  tiles(); status();
  panels.forEach((panel) => { panel.of = `${data.join.title} · ${data.join.name}`; panel.update(data); });
}

const soon = () => { if (!waiting) { waiting = true; requestAnimationFrame(draw); } };

function choices() {
  const chosen = $("join");
  chosen.replaceChildren(...data.joins.map((each) => element("option", { value: each.id, text: `${each.title} · ${each.name}${each.state === "running" ? "" : ` (${each.state})`}` })));
  chosen.value = String(data.join.id);
  $("join-choice").hidden = data.joins.length < 2;
}

// What was asked for last is shown, whichever answer comes first; a failed load is tried again, once.
async function load() {
  const mine = (loads += 1);
  const again = (word) => {
    if (mine !== loads) return;
    isLoading = false;
    if (!data) $("status").querySelector(".word").textContent = word;
    if (data && live.lost) return; // the stream loads when it is back, and when it tries
    clearTimeout(timer);
    timer = setTimeout(load, AGAIN_MS);
  };
  isLoading = true; hasNews = false;
  const asked = new URLSearchParams({ join: new URLSearchParams(location.hash.slice(1)).get("join") || "0", seconds: $("seconds").value });
  try {
    const answer = await fetch(`data?${asked}`);
    if (answer.status === 404) { location.hash = ""; again("waiting for a query"); return; }
    mayRead = answer.status !== 401;
    if (!answer.ok) throw new Error(await answer.text());
    const found = await answer.json();
    if (mine !== loads) return;
    if (!found) { again("waiting for a query"); return; }
    data = found;
  } catch (error) {
    again(`page disconnected: ${error.message}`);
    return;
  }
  isLoading = false;
  choices(); build(); draw();
  if (hasNews) load();
}

// A batch at a time; the oldest go, so that a page that stays open for days does not grow.
function add(point) {
  const { series } = data, length = (series.t || (series.t = [])).length;
  for (const [name, value] of Object.entries(point)) (series[name] || (series[name] = Array(length).fill(null))).push(value);
  for (const values of Object.values(series)) {
    if (values.length <= length) values.push(values.length ? values[values.length - 1] : null);
  }
  const since = point.t - data.seconds;
  let gone = 0;
  while (series.t[gone] < since) gone += 1;
  if (gone) for (const values of Object.values(series)) values.splice(0, gone);
  return series.t.length <= MOST_POINTS;
}

// What decides which panels and lines there are.
const shape = () => [...LOSSES.map(([key]) => `${key}_s`), "limit", "lag_s", "budget"].map(has).join();

function hear(told) {
  if (isLoading) { hasNews = true; return; }
  if (!data || told.reload) { load(); return; }
  if (told.id !== data.join.id) {
    const changed = data.joins.find((each) => each.id === told.id && each.state !== told.state);
    if (changed) { changed.state = told.state; choices(); }
    const other = (data.others || []).find((each) => each.id === told.id);
    const limit = told.points.length && told.points[told.points.length - 1].limit;
    if (other && limit && data.series[`limit_${other.id}`]) data.series[`limit_${other.id}`].splice(-1, 1, limit);
    return;
  }
  const isNew = data.join.state !== told.state;
  // One that was done between loading and listening is missing here.
  const first = told.points.length ? told.points[0].batch : null;
  if (first !== null && last("batch") !== null && first > last("batch") + 1) { load(); return; }
  data.join.state = told.state; data.now = told.now;
  const known = new Set(data.events.map(String));
  data.events.push(...told.events.filter((event) => !known.has(String(event))));
  // What a panel is made for may have come with this batch.
  const before = shape();
  const fits = told.points.every((point) => add(point));
  if (!fits || isNew) { load(); return; }
  if (shape() !== before) build();
  soon();
}

$("join").addEventListener("change", () => { location.hash = `join=${$("join").value}`; load(); });
$("seconds").addEventListener("change", load);
$("theme").addEventListener("change", () => {
  const chosen = $("theme").value;
  try { localStorage.setItem("headgate-theme", chosen); } catch { /* no storage */ }
  if (chosen === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  if (data) { build(); draw(); }
});
$("theme").value = document.documentElement.dataset.theme || "auto";
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (data) { build(); draw(); } });
setInterval(status, 1000);
live.listen();
