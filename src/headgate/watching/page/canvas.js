// Drawings that are no time series: the heat map of shards, and recall against memory.
import { colour } from "./timechart.js";

function sized(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`; canvas.style.height = `${height}px`;
  const draw = canvas.getContext("2d");
  draw.scale(scale, scale);
  draw.font = "12px system-ui, sans-serif";
  return draw;
}

function mixed(from, to, part) {
  const read = (text) => [1, 3, 5].map((place) => parseInt(text.slice(place, place + 2), 16));
  const [a, b] = [read(from), read(to)];
  return `rgb(${a.map((value, place) => Math.round(value + (b[place] - value) * part)).join(",")})`;
}

const LEFT = 70, RIGHT = 124, BOTTOM = 24, TOP = 4;

// grid: {t, shards: [numbers], values: [shard][time], latest: [shard], low, high, format, hot: index or -1, word}
export function drawHeat(canvas, width, grid, chosen) {
  const rowHeight = Math.max(Math.min(26, 260 / Math.max(grid.shards.length, 1)), 5);
  const height = TOP + rowHeight * grid.shards.length + BOTTOM;
  const draw = sized(canvas, width, height);
  const across = width - LEFT - RIGHT, columns = grid.t.length;
  const cell = across / Math.max(columns, 1);
  const [none, full] = [colour("heat0"), colour("heat1")];
  const span = grid.high - grid.low || 1;
  const shown = Math.ceil(14 / rowHeight);
  grid.shards.forEach((number, row) => {
    const y = TOP + row * rowHeight;
    grid.values[row].forEach((value, column) => {
      if (value === null || value === undefined) return;
      const part = Math.min(Math.max((value - grid.low) / span, 0), 1);
      draw.fillStyle = mixed(none, full, part);
      draw.fillRect(LEFT + column * cell, y, Math.max(cell, 1) + 0.4, rowHeight - (rowHeight > 8 ? 1.5 : 0));
    });
    const isHot = row === grid.hot;
    if (row % shown === 0 || isHot) {
      draw.fillStyle = colour(isHot ? "ink" : "soft");
      draw.font = `${isHot ? "700 " : ""}12px system-ui, sans-serif`;
      draw.textAlign = "right";
      draw.fillText(`shard ${number}`, LEFT - 8, y + rowHeight / 2 + 4);
      draw.textAlign = "left";
      const latest = grid.latest[row];
      draw.fillText(`${latest === null ? "–" : grid.format(latest)}${isHot ? ` ◀ ${grid.word}` : ""}`, LEFT + across + 8, y + rowHeight / 2 + 4);
    }
  });
  drawTimes(draw, grid.t, across, height);
  if (chosen) {
    draw.strokeStyle = colour("c2"); draw.lineWidth = 2;
    draw.strokeRect(LEFT + chosen.column * cell - 1, TOP + chosen.row * rowHeight - 1, Math.max(cell, 3) + 2, rowHeight + 1);
  }
  return { place: (x, y) => ({ column: Math.floor((x - LEFT) / cell), row: Math.floor((y - TOP) / rowHeight) }) };
}

function drawTimes(draw, times, across, height) {
  if (!times.length) return;
  const short = times[times.length - 1] - times[0] < 600 ? { second: "2-digit" } : {};
  const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", ...short });
  const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
  const long = times[times.length - 1] - times[0] > 2 * 86400;
  const labels = Math.max(Math.floor(across / 110), 1);
  draw.fillStyle = colour("soft"); draw.font = "12px system-ui, sans-serif"; draw.textAlign = "center";
  for (let place = 0; place <= labels; place += 1) {
    const column = Math.min(Math.round((place / labels) * (times.length - 1)), times.length - 1);
    const x = LEFT + ((column + 0.5) / times.length) * across;
    draw.fillText((long ? day : clock).format(new Date(times[column] * 1000)), x, height - 7);
  }
}

// points: [times, memory, recall]; format: of memory
export function drawCurve(canvas, width, points, format) {
  const height = 200, draw = sized(canvas, width, height);
  const box = { left: 52, right: width - 26, top: 24, bottom: height - 42 };
  const least = Math.min(...points.map((each) => each[2])) - 0.05, step = least < 0.5 ? 0.2 : 0.1;
  const low = Math.max(Math.floor(least / step) * step, 0);
  const x = (place) => box.left + ((box.right - box.left) * (place + 0.15)) / (points.length - 0.7);
  const y = (recall) => box.bottom - ((recall - low) / (1 - low)) * (box.bottom - box.top);
  draw.textAlign = "right"; draw.lineWidth = 1;
  for (let tick = low; tick <= 1.001; tick += step) {
    draw.strokeStyle = colour("grid"); draw.fillStyle = colour("soft");
    draw.beginPath(); draw.moveTo(box.left, y(tick)); draw.lineTo(box.right, y(tick)); draw.stroke();
    draw.fillText(tick.toFixed(2), box.left - 8, y(tick) + 4);
  }
  draw.strokeStyle = colour("c1"); draw.lineWidth = 2.5; draw.beginPath();
  points.forEach((each, place) => draw[place ? "lineTo" : "moveTo"](x(place), y(each[2])));
  draw.stroke();
  draw.textAlign = "center";
  points.forEach(([times, memory, recall], place) => {
    const isNow = times === 1;
    draw.beginPath(); draw.arc(x(place), y(recall), isNow ? 7 : 4, 0, 7);
    draw.fillStyle = colour(isNow ? "c2" : "c1"); draw.fill();
    if (isNow) { draw.strokeStyle = colour("card"); draw.lineWidth = 2; draw.stroke(); }
    draw.fillStyle = colour("ink"); draw.font = `${isNow ? "700 " : ""}12px system-ui, sans-serif`;
    draw.strokeStyle = colour("card"); draw.lineWidth = 4; // lines end where a number stands
    const told = `${recall.toFixed(2)}${isNow ? " now" : ""}`;
    draw.strokeText(told, x(place), y(recall) - 12); draw.fillText(told, x(place), y(recall) - 12);
    draw.fillStyle = colour(isNow ? "ink" : "soft");
    draw.fillText(times < 1 ? `÷ ${1 / times}` : `× ${times}`, x(place), box.bottom + 17);
    draw.fillText(format(memory), x(place), box.bottom + 33);
  });
}
