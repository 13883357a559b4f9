// Numbers and times as people read them: with units, in the viewer's zone.
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dated = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export const none = "–";
const known = (value) => value !== null && value !== undefined && Number.isFinite(value);

export function count(value) {
  if (!known(value)) return none;
  const size = Math.abs(value);
  if (size >= 1e9) return `${(value / 1e9).toPrecision(3)} G`;
  if (size >= 1e6) return `${(value / 1e6).toPrecision(3)} M`;
  if (size >= 1e4) return `${(value / 1e3).toPrecision(3)} k`;
  if (size >= 100 || Number.isInteger(value)) return whole.format(value);
  return String(Number(value.toPrecision(3)));
}
export const rate = (value) => (known(value) ? `${count(value)}/s` : none);
export function bytes(value) {
  if (!known(value)) return none;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let place = 0, size = value;
  while (Math.abs(size) >= 1000 && place < units.length - 1) { size /= 1000; place += 1; }
  return `${size >= 100 ? Math.round(size) : Number(size.toPrecision(3))} ${units[place]}`;
}
export function seconds(value) {
  if (!known(value)) return none;
  if (value < 0.0005) return "0 s";
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 120) return `${Number(value.toPrecision(3))} s`;
  if (value < 7200) return `${Math.round(value / 60)} min`;
  if (value < 172800) return `${Number((value / 3600).toPrecision(3))} h`;
  const days = value / 86400;
  return days < 1000 ? `${Math.round(days)} days` : `${Number((days / 365.25).toPrecision(3))} years`;
}
export const share = (value) => (known(value) ? value.toFixed(value > 0.9995 || value < 0.0005 ? 2 : 3) : none);
export const percent = (value) => (known(value) ? `${Number((100 * value).toPrecision(3))} %` : none);
export const cores = (value) => (known(value) ? `${Number(value.toPrecision(3))} cores` : none);
export const time = (at) => clock.format(new Date(at * 1000));
export const moment = (at) => dated.format(new Date(at * 1000));
export function ago(at) {
  const passed = Date.now() / 1000 - at;
  return passed < 2 ? "now" : `${seconds(passed)} ago`;
}
