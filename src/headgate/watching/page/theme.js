// Before anything is drawn: the theme that was chosen, so that the page does not flash.
(() => {
  let chosen = "auto";
  try { chosen = localStorage.getItem("headgate-theme") || "auto"; } catch { /* no storage */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
