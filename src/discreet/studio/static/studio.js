/* The studio: forms are sent without leaving the page, files are counted while they arrive, runs report by events. */
(() => {
  "use strict";
  const root = document.documentElement;
  /* How every address begins: the studio answers under a secret path alone. */
  const base = new URL("..", document.currentScript.src).pathname.replace(/\/$/, "");
  const memory = { get: () => { try { return localStorage.getItem("discreet-theme"); } catch { return null; } } };
  if (memory.get()) root.dataset.theme = memory.get();
  const token = () => document.querySelector("meta[name=discreet-token]").content;
  const headers = () => ({ "X-Discreet-Token": token() });
  const main = () => document.getElementById("main");
  let streams = [];
  let loading = 0;

  function alarm(text) {
    const box = document.getElementById("alert");
    box.textContent = text;
    box.hidden = !text;
    if (text) box.scrollIntoView({ block: "nearest" });
  }

  /* Every response to a change is JSON: where to go, or what went wrong. */
  async function send(address, body, more = {}, isStale = () => false) {
    alarm("");
    let answer;
    try {
      const response = await fetch(address, { method: "POST", body, headers: { ...headers(), ...more } });
      answer = await response.json();
    } catch {
      alarm("The studio does not answer. Is it still running in its terminal?");
      return false;
    }
    if (answer.go) { await show(base + answer.go, true, isStale); return true; }
    alarm(answer.error + (answer.remedy ? ` Try ${answer.remedy}.` : ""));
    return false;
  }

  /* Show a page in place of this one; scroll, focus and open parts stay where it is the same page. */
  async function show(address, push = true, isStale = () => false) {
    const number = ++loading;
    if (isStale()) return;
    const response = await fetch(address, { headers: headers() });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (number !== loading || isStale()) return;
    const same = new URL(address, location.href).pathname === location.pathname;
    const active = document.activeElement, focused = active && active.id;
    /* What is being typed, or slid to, while the page before it comes back is not lost. */
    const typed = same && focused && active.matches("input:not([type=checkbox]), textarea") && active.value !== active.defaultValue ? active.value : null;
    const open = same ? [...document.querySelectorAll("details[open]")].map(path) : [];
    streams.forEach((stream) => stream.close());
    streams = [];
    document.title = page.title;
    document.querySelector("header").replaceChildren(...page.querySelector("header").childNodes);
    main().replaceChildren(...page.getElementById("main").childNodes);
    open.forEach((each) => { const part = document.querySelectorAll("details")[each]; if (part) part.open = true; });
    if (push && address !== location.pathname + location.search) history.pushState(null, "", address);
    for (const each of page.querySelectorAll("head script[src$='charts.js']")) await charts(each.getAttribute("src"));
    enliven();
    const next = same && focused && document.getElementById(focused);
    if (next) {
      next.focus({ preventScroll: true });
      if (typed !== null && next.value !== typed) { next.value = typed; next.dispatchEvent(new Event("input", { bubbles: true })); }
    }
    else { window.scrollTo(0, 0); const title = main().querySelector("h1"); if (title) { title.tabIndex = -1; title.focus({ preventScroll: true }); } }
  }
  const path = (details) => [...document.querySelectorAll("details")].indexOf(details);

  const pairs = (form, button) => {
    const fields = [...new FormData(form).entries()].filter(([, value]) => typeof value === "string");
    if (form.dataset.with) fields.push(...new FormData(document.getElementById(form.dataset.with)).entries());
    if (button && button.name) fields.push([button.name, button.value]);
    return JSON.stringify(fields);
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.getAttribute("method") !== "post") return; // a field may be called like a property of the form
    event.preventDefault();
    /* What is changed while a change is on its way is sent after it; only the page of the last one is shown. */
    if (form.dataset.busy) { if (form.dataset.auto !== undefined) form.dataset.again = "yes"; } else submit(form, event.submitter);
  });
  let submits = 0;
  async function submit(form, submitter) {
    const number = ++submits;
    form.dataset.busy = "yes";
    do {
      delete form.dataset.again;
      await send(form.getAttribute("action"), pairs(form, submitter), { "Content-Type": "application/json" }, () => form.dataset.again || number !== submits);
    } while (form.dataset.again);
    delete form.dataset.busy;
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.id === "theme") switchTheme();
    if (button.classList.contains("copy")) copy(button);
    if (button.dataset.action) send(button.dataset.action, JSON.stringify([[button.dataset.name, button.dataset.value]]));
  });

  async function copy(button) {
    const text = button.parentElement.querySelector("code").textContent;
    try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { button.textContent = "Select it, and copy"; }
  }

  /* Fields: some send their form when they change, some show what a change would mean. */
  document.addEventListener("change", (event) => {
    const form = event.target.form;
    if (event.target.type === "file") { take(event.target.closest("[data-upload]"), event.target.files); return; }
    if (event.target.dataset.shows) shape(form);
    if (form && form.dataset.auto !== undefined) form.requestSubmit();
  });
  let waiting = 0;
  document.addEventListener("input", (event) => {
    const field = event.target;
    if (field.dataset.for) document.getElementById(field.dataset.for).value = field.value;
    else if (field.type === "number" && field.previousElementSibling && field.previousElementSibling.dataset.for) field.previousElementSibling.value = field.value;
    if (field.form && field.form.dataset.live) { clearTimeout(waiting); waiting = setTimeout(() => live(field.form), 60); }
    edges();
  });
  let asked = 0;
  async function live(form) {
    const number = ++asked;
    const into = document.getElementById(form.dataset.into);
    const response = await fetch(form.dataset.live, { method: "POST", body: pairs(form), headers: headers() });
    if (number !== asked) return;
    if (!response.ok) { into.replaceChildren(note((await response.json()).error)); return; }
    fill(into, await response.text());
  }
  const fill = (into, text) => into.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
  const note = (text) => { const line = document.createElement("p"); line.className = "problem"; line.textContent = text; return line; };

  function shape(form) {
    const way = form.elements.way.value;
    for (const part of form.querySelectorAll("[data-way]")) part.hidden = part.dataset.way !== way;
    edges();
  }
  /* The narrowest intervals over the bars. */
  function edges() {
    const picture = document.querySelector(".histogram[data-low]");
    const widths = document.getElementById("intervals");
    if (!picture || !widths) return;
    const group = picture.querySelector(".edges");
    group.replaceChildren();
    const width = parseFloat(widths.value), low = +picture.dataset.low, high = +picture.dataset.high;
    if (!(width > 0) || (high - low) / width > 200 || widths.closest("[hidden]")) return;
    const span = picture.viewBox.baseVal.width;
    for (let at = Math.ceil(low / width) * width; at <= high; at += width) {
      const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
      const x = (high > low ? (at - low) / (high - low) : 0) * span;
      for (const [name, value] of [["x1", x], ["x2", x], ["y1", 0], ["y2", 100]]) line.setAttribute(name, value);
      group.append(line);
    }
  }

  /* Files are sent as they are, with their name beside them. */
  function take(drop, files) {
    if (!files.length) return;
    const bar = drop.querySelector("progress");
    const request = new XMLHttpRequest();
    request.open("POST", drop.dataset.upload);
    request.setRequestHeader("X-Discreet-Token", token());
    request.setRequestHeader("X-Name", encodeURIComponent(files[0].name.slice(0, 400)));
    request.upload.onprogress = (event) => { bar.hidden = false; bar.max = event.total || 1; bar.value = event.loaded; };
    request.onload = () => {
      bar.hidden = true;
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { /* not an answer of ours */ }
      if (answer.go) show(base + answer.go); else alarm((answer.error || "The file was not taken.") + (answer.remedy ? ` Try ${answer.remedy}.` : ""));
    };
    request.onerror = () => { bar.hidden = true; alarm("The file was not taken: the studio does not answer, or refused it."); };
    alarm("");
    bar.hidden = false;
    request.send(files[0]);
  }
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      const drop = event.target.closest && event.target.closest("[data-upload], .box");
      if (drop) drop.classList.toggle("over", name === "dragover");
      if (name === "dragover" || name === "drop") event.preventDefault();
      if (name !== "drop" || !drop) return;
      if (drop.dataset.upload) take(drop, event.dataTransfer.files);
      else if (dragged) regroup(drop);
    });
  }
  let dragged = null;
  document.addEventListener("dragstart", (event) => { dragged = event.target.closest(".chip"); });
  document.addEventListener("dragend", () => { dragged = null; });
  function regroup(box) {
    const form = document.getElementById("move-form");
    if (!box.dataset.group) return;
    dragged.querySelector("input").checked = true;
    const items = [...form.querySelectorAll("input[name=item]:checked")].map((each) => ["item", each.value]);
    const fields = [...items, ["level", form.elements.level.value], ["group", box.dataset.group], ["action", "move"]];
    send(form.getAttribute("action"), JSON.stringify(fields));
  }

  /* Runs. */
  function follow(part) {
    const stream = new EventSource(part.dataset.events);
    streams.push(stream);
    stream.onmessage = (event) => {
      const report = JSON.parse(event.data);
      part.querySelector(".stage").textContent = report.stage;
      part.querySelector(".seconds").textContent = `${report.seconds} s`;
      part.querySelector("progress").value = report.share;
      if (report.state !== "running") { stream.close(); show(location.pathname, false); }
    };
  }

  /* Charts: expressions are interpreted, since the policy of the page forbids code made of text. */
  async function charts(source) {
    if (window.vegaEmbed) return;
    await new Promise((done) => {
      const script = document.createElement("script");
      script.src = source;
      script.onload = script.onerror = done;
      document.head.append(script);
    });
  }
  function draw() {
    if (!window.vegaEmbed) return;
    const options = { mode: "vega-lite", renderer: "svg", actions: false, ast: true, defaultStyle: false, tooltip: { disableDefaultStyle: true } };
    for (const chart of document.querySelectorAll(".chart + script")) {
      const target = chart.previousElementSibling;
      if (target.childElementCount) continue;
      window.vegaEmbed(target, JSON.parse(chart.textContent), options).then(({ view }) => view.addEventListener("click", choose)).catch(() => {
        target.textContent = "This chart could not be drawn; the table below has its numbers.";
      });
    }
  }

  /* A point of the solutions goes to its row, a node of the lattice to its levels. */
  function choose(event, point) {
    const form = document.getElementById("node"), levels = point && point.datum && point.datum.l;
    if (form && levels) {
      const names = JSON.parse(form.dataset.names);
      form.querySelector("span").textContent = `Level ${levels.map((level, at) => `${level} of ${names[at]}`).join(", ")}.`;
      form.querySelector("button").value = levels.join(",");
      form.hidden = false;
      form.scrollIntoView({ block: "center" });
      form.querySelector("button").focus({ preventScroll: true });
      return;
    }
    const button = point && point.datum && document.getElementById(`choice-${point.datum.number}`);
    if (button) { button.focus(); button.closest("tr").scrollIntoView({ block: "center" }); }
  }

  const night = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : night.matches);
  const nameTheme = () => { document.getElementById("theme").textContent = isDark() ? "Light" : "Dark"; };
  function switchTheme() {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("discreet-theme", root.dataset.theme); } catch { /* a page without storage forgets */ }
    nameTheme();
  }

  function enliven() {
    nameTheme();
    for (const form of document.querySelectorAll("form[data-live]")) if (document.getElementById(form.dataset.into).querySelector(".lead")) live(form);
    for (const form of document.querySelectorAll("form")) if (form.elements.way) shape(form);
    for (const part of document.querySelectorAll("[data-events]")) follow(part);
    for (const part of document.querySelectorAll("[data-load]")) {
      fetch(part.dataset.load, { headers: headers() }).then((response) => response.ok ? response.text() : "").then((text) => fill(part, text));
      delete part.dataset.load;
    }
    draw();
  }
  window.addEventListener("popstate", () => show(location.pathname + location.search, false));
  document.addEventListener("DOMContentLoaded", () => { night.addEventListener("change", nameTheme); enliven(); });
  window.addEventListener("load", draw);
})();
