// Draws each chart when it is near the window and when colours change, and shows the panels of the selected choice.
const charts = JSON.parse(document.getElementById("charts").textContent);
const themes = JSON.parse(document.getElementById("themes").textContent);
const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const kept = new Map(); // id of a chart -> result of vegaEmbed

const theme = () => root.dataset.theme ?? (dark.matches ? "dark" : "light");

function coloured(value) {
  const tokens = themes.tokens[theme()];
  return JSON.parse(JSON.stringify(value).replace(/"@([a-z0-9-]+)"/g, (whole, name) => (name in tokens ? `"${tokens[name]}"` : whole)));
}

async function draw(element) {
  kept.get(element.id)?.finalize();
  const config = { ...themes.config, legend: { disable: true } };
  const drawn = await vegaEmbed(element, coloured({ ...charts[element.id], config }), {
    mode: "vega-lite", renderer: "svg", actions: false, tooltip: { theme: theme() },
  });
  kept.set(element.id, drawn);
  element.classList.add("drawn");
}

const elements = [...document.querySelectorAll(".chart")];
const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (isIntersecting && !kept.has(target.id)) {
      kept.set(target.id, null);
      draw(target);
    }
  }
}, { rootMargin: "800px" });
elements.forEach((element) => near.observe(element));

function redraw() {
  for (const element of elements) {
    if (kept.has(element.id)) draw(element);
  }
}
dark.addEventListener("change", redraw);
addEventListener("beforeprint", () => elements.filter((element) => element.offsetParent && !kept.has(element.id)).forEach(draw));

// Colours: as the system, then the other, then as the system again.
const button = document.getElementById("theme");
function choose(name) {
  if (name) root.dataset.theme = name;
  else delete root.dataset.theme;
  try {
    if (name) localStorage.setItem("theme", name);
    else localStorage.removeItem("theme");
  } catch {} // a page from a file may have no storage
  redraw();
}
button.addEventListener("click", () => choose(root.dataset.theme ? "" : dark.matches ? "light" : "dark"));
try {
  const before = localStorage.getItem("theme");
  if (before) choose(before);
} catch {}

for (const input of document.querySelectorAll(".choice input")) {
  input.addEventListener("change", () => {
    for (const figure of input.closest("section").querySelectorAll("figure")) figure.hidden = figure.dataset.choice !== input.value;
    dispatchEvent(new Event("resize")); // hidden charts had no width
  });
}

// Marks the link of the section that is being read.
const links = new Map([...document.querySelectorAll("nav .links a")].map((link) => [link.hash.slice(1), link]));
const reading = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) links.get(target.id)?.classList.toggle("here", isIntersecting);
}, { rootMargin: "-20% 0px -75% 0px" });
document.querySelectorAll("section").forEach((section) => reading.observe(section));

// For tests: draws all visible charts, and resolves when they are complete.
window.drawAll = () => Promise.all(elements.filter((element) => element.offsetParent).map(draw));
