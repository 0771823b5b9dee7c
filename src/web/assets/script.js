// Keys for the list, the path and verdicts; search as you type. The pages work without this script.
"use strict";

const typing = (event) =>
  event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);

// The item of a list that the keys are at: rows of a table, or steps of a path.
const steps = [...document.querySelectorAll(".path [data-step]")];
const rows = [...document.querySelectorAll("table.findings tr.item")];
let at = -1;

function goTo(items, index) {
  if (items.length === 0) return;
  at = Math.max(0, Math.min(items.length - 1, index));
  document.querySelectorAll(".current").forEach((one) => one.classList.remove("current"));
  const item = items[at];
  item.classList.add("current");
  item.scrollIntoView({ block: "nearest" });
  if (items !== steps) return;
  const mark = document.querySelector(`.sources [data-step="${at}"]`);
  if (!mark) return;
  const line = mark.closest(".line");
  mark.classList.add("current");
  line.classList.add("current");
  line.scrollIntoView({ block: "center", behavior: "smooth" });
  history.replaceState(null, "", `#s${at + 1}`);
}

const items = () => (steps.length > 0 ? steps : rows);
const click = (selector) => document.querySelector(selector)?.click();

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    document.activeElement?.blur();
    hide();
    return;
  }
  if (typing(event)) return;
  const button = document.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
  if (button) button.click();
  else if (event.key === "j") goTo(items(), at + 1);
  else if (event.key === "k") goTo(items(), at - 1);
  else if (event.key === "Enter" && rows[at]) rows[at].querySelector("a").click();
  else if (event.key === "n") click("#next");
  else if (event.key === "p") click("#before");
  else if (event.key === "m") document.querySelector("#note")?.focus();
  else if (event.key === "/") document.querySelector("#search").focus();
  else return;
  event.preventDefault();
});

steps.forEach((step, index) => step.addEventListener("click", () => goTo(steps, index)));
document.querySelectorAll(".sources [data-step]").forEach((mark) =>
  mark.addEventListener("click", () => goTo(steps, Number(mark.dataset.step))));
const wanted = /^#s(\d+)$/.exec(location.hash);
if (wanted) goTo(steps, Number(wanted[1]) - 1);

// Enter in the note gives no verdict: a key or a click does.
document.querySelector("#note")?.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  event.target.blur();
});
// A field that was not filled in is no part of the address.
document.querySelectorAll("form.filters").forEach((form) => form.addEventListener("submit", () =>
  form.querySelectorAll("input, select").forEach((field) => { field.disabled = field.value === ""; })));

// Search: the answer to the last question counts, whatever order answers come in.
const field = document.querySelector("#search");
const list = document.querySelector("#suggestions");
let question = 0;
let chosen = -1;

function hide() {
  list?.setAttribute("hidden", "");
  chosen = -1;
}

function show(found) {
  chosen = -1;
  list.replaceChildren(...found.functions.map((one) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    const place = document.createElement("span");
    link.href = one.address;
    link.textContent = one.name;
    place.textContent = one.place;
    place.className = "faint";
    link.append(" ", place);
    item.append(link);
    return item;
  }));
  if (found.count > found.functions.length) {
    const more = document.createElement("li");
    more.className = "faint";
    more.textContent = `${found.count} in all: Enter lists them`;
    list.append(more);
  }
  list.toggleAttribute("hidden", found.count === 0);
}

field?.addEventListener("input", async () => {
  const own = ++question;
  if (field.value.trim() === "") return hide();
  try {
    const answer = await fetch(`/search?q=${encodeURIComponent(field.value)}`);
    const found = await answer.json();
    if (own === question) show(found);
  } catch {
    hide();
  }
});

field?.addEventListener("keydown", (event) => {
  const links = [...list.querySelectorAll("a")];
  const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (move && links.length > 0) {
    chosen = (chosen + move + links.length) % links.length;
    links.forEach((link, index) => link.classList.toggle("current", index === chosen));
  } else if (event.key === "Enter" && links[chosen]) {
    location.href = links[chosen].href;
  } else return;
  event.preventDefault();
});
