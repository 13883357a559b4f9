// A panel's figures as CSV, and its picture as PNG.
import { moment } from "./format.js";

function offer(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Spreadsheets run what begins like a formula; names come from queries.
function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function saveCsv(name, heads, rows) {
  const lines = [heads, ...rows].map((row) => row.map(cell).join(","));
  offer(new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv" }), `${name}.csv`);
}

// The line or area of a series, as in the legend.
function mark(draw, told, x, y, scale) {
  draw.strokeStyle = told.colour; draw.lineWidth = 2 * scale;
  draw.setLineDash(told.dash.map((each) => each * scale));
  draw.beginPath();
  if (told.fill) { draw.fillStyle = told.fill; draw.rect(x, y - 5 * scale, 26 * scale, 10 * scale); draw.fill(); }
  else { draw.moveTo(x, y); draw.lineTo(x + 26 * scale, y); }
  draw.stroke();
  draw.setLineDash([]);
}

// lines: {text, colour, dash, fill}; without a colour there is nothing to tell apart.
export function savePng(name, title, lines, canvas) {
  const style = getComputedStyle(document.documentElement);
  const scale = window.devicePixelRatio || 1;
  const pad = 14 * scale, line = 19 * scale;
  const picture = document.createElement("canvas");
  picture.width = canvas.width + 2 * pad;
  picture.height = canvas.height + 3 * pad + line * (lines.length + 2);
  const draw = picture.getContext("2d");
  draw.fillStyle = style.getPropertyValue("--card");
  draw.fillRect(0, 0, picture.width, picture.height);
  draw.fillStyle = style.getPropertyValue("--ink");
  draw.font = `600 ${15 * scale}px system-ui, sans-serif`;
  draw.fillText(title, pad, pad + line * 0.8);
  draw.drawImage(canvas, pad, pad * 1.5 + line);
  draw.font = `${12 * scale}px system-ui, sans-serif`;
  draw.fillStyle = style.getPropertyValue("--soft");
  const below = pad * 1.5 + line + canvas.height;
  [...lines, { text: `Headgate, ${moment(Date.now() / 1000)}` }].forEach((told, place) => {
    const y = below + line * (place + 1), wide = told.colour ? 34 * scale : 0;
    if (told.colour) mark(draw, told, pad, y - 4 * scale, scale);
    draw.fillStyle = style.getPropertyValue("--soft");
    draw.fillText(told.text, pad + wide, y);
  });
  picture.toBlob((blob) => offer(blob, `${name}.png`));
}
