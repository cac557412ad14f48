(() => {
  "use strict";
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const night = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : night.matches);
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };

  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("discreet-theme", root.dataset.theme); } catch { /* a page without storage forgets */ }
    name();
  });
  night.addEventListener("change", name);
  name();

  for (const chart of document.querySelectorAll(".chart + script")) {
    const place = chart.previousElementSibling;
    const options = { mode: "vega-lite", renderer: "svg", actions: false };
    window.vegaEmbed(place, JSON.parse(chart.textContent), options).catch(() => {
      place.textContent = "This chart could not be drawn; the table below has its numbers.";
    });
  }
})();
