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

  // Long lists of charts and rows are folded: the index opens what it points to, and paper shows everything.
  const folded = [];
  const label = (count, what) => `Show all ${count} ${what}`;
  const unfold = (entry) => { entry.items.forEach((item) => item.classList.remove("folded")); entry.button.remove(); };
  const fold = (items, first, place, text) => {
    const more = document.createElement("button");
    more.type = "button";
    more.className = "more";
    more.textContent = text;
    const entry = { items: items.slice(first), button: more };
    entry.items.forEach((item) => item.classList.add("folded"));
    more.addEventListener("click", () => unfold(entry));
    place.append(more);
    folded.push(entry);
  };
  for (const grid of document.querySelectorAll(".grid")) {
    const figures = [...grid.children];
    if (figures.length > 8) fold(figures, 4, grid.parentElement, label(figures.length, "charts"));
  }
  for (const table of document.querySelectorAll("section > .scroll table")) {
    const rows = [...table.tBodies[0].rows];
    if (rows.length > 16) fold(rows, 10, table.closest(".scroll").parentElement, label(rows.length, "rows"));
  }
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const entry = target && folded.find(({ items }) => items.some((item) => item.contains(target)));
    if (entry) { unfold(entry); target.scrollIntoView(); }
  };
  window.addEventListener("hashchange", reveal);
  reveal();

  for (const chart of document.querySelectorAll(".chart + script")) {
    const place = chart.previousElementSibling;
    const options = { mode: "vega-lite", renderer: "svg", actions: false };
    window.vegaEmbed(place, JSON.parse(chart.textContent), options).catch(() => {
      place.textContent = "This chart could not be drawn; the table below has its numbers.";
    });
  }
})();
