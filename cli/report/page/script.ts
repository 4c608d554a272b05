/**
 * What the page does by itself: it filters by what is typed and chosen, and where it is served, it shows what has changed. Without it
 * everything is there to read. It makes no HTML of what is typed, and what it fetches is the page again, whose every value is escaped.
 */
export const script = `
"use strict";
(() => {
  const main = document.querySelector("main");
  const form = document.querySelector("form");
  const said = document.getElementById("said");
  const fields = [...form.elements].filter((field) => field.name && field.name !== "text");
  const textField = form.elements.text;
  let rows = [];

  const collect = () => {
    rows = [...main.querySelectorAll("tr[data-state]")].map((row) => ({ row, text: row.textContent.toLowerCase() }));
  };

  const filter = () => {
    const words = textField.value.toLowerCase().split(/\\s+/).filter(Boolean);
    const chosen = fields.filter(({ value }) => value !== "");
    let shown = 0, total = 0;
    for (const { row, text } of rows) {
      const fits = words.every((word) => text.includes(word)) &&
        chosen.every(({ name, value }) => row.dataset[name] === value);
      if (row.hidden === fits) row.hidden = !fits;
      if (row.closest("#spokes")) { total += 1; shown += fits ? 1 : 0; }
    }
    for (const group of main.querySelectorAll("#spokes tbody"))
      group.hidden = !group.querySelector("tr[data-state]:not([hidden])");
    document.getElementById("shown").textContent = words.length + chosen.length > 0 ? shown + " of " + total + " spokes" : "";
  };

  let timer;
  form.hidden = false;
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(filter, 80); });
  form.addEventListener("submit", (event) => { event.preventDefault(); filter(); });
  form.addEventListener("reset", () => setTimeout(filter));
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
    // With a modifier: a key alone would be typed by those who speak to their computer (WCAG 2.2, 2.1.4).
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
      event.preventDefault();
      textField.focus();
    } else if (event.key === "Escape" && typing) form.reset();
  });
  collect();

  const seconds = Number(document.body.dataset.refresh || 0);
  if (seconds === 0) return;

  const inWords = (ms) => {
    const minutes = Math.floor(Math.max(ms, 0) / 60000);
    if (minutes < 1) return Math.floor(Math.max(ms, 0) / 1000) + "s";
    const hours = Math.floor(minutes / 60);
    if (hours >= 48) return Math.floor(hours / 24) + "d";
    return (hours > 0 ? hours + "h" : "") + (minutes % 60 > 0 ? (minutes % 60) + "m" : "");
  };
  const ages = () => {
    for (const time of main.querySelectorAll("time[data-age]")) time.textContent = inWords(Date.now() - Date.parse(time.dateTime));
  };

  const contact = document.getElementById("contact");
  let etag = document.body.dataset.etag;
  let last = Date.now();
  const stops = (id) => [...(document.getElementById(id)?.querySelectorAll("summary, a") ?? [])];
  const isSame = (a, b) => a.getAttribute("href") === b.getAttribute("href") && a.textContent === b.textContent;
  const placeOf = (element) => {
    const id = element.closest("[id]")?.id;
    return { id, element, index: stops(id).indexOf(element) };
  };
  // The same link, else what has come in its place; what is not replaced, such as the filter, has kept the keyboard.
  const focusAt = ({ id, element, index }) => {
    if (!element.isConnected) (stops(id).find((each) => isSame(each, element)) ?? stops(id)[index])?.focus();
  };
  const show = (text) => {
    const next = new DOMParser().parseFromString(text, "text/html");
    const open = new Set([...main.querySelectorAll("details[open]")].map(({ id }) => id));
    const place = main.contains(document.activeElement) ? placeOf(document.activeElement) : undefined;
    for (const id of ["now", "rest"])
      document.getElementById(id).replaceChildren(...next.getElementById(id).childNodes);
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    if (place) focusAt(place);
    document.title = next.title;
    const summary = next.getElementById("said").textContent;
    if (said.textContent !== summary) said.textContent = summary;
    collect();
    filter();
  };
  const ask = async () => {
    try {
      const answer = await fetch(location.href, { headers: { "If-None-Match": etag }, cache: "no-store" });
      if (answer.status === 200) {
        const before = etag;
        etag = answer.headers.get("ETag");
        const text = await answer.text();
        if (before !== etag) show(text);
      } else if (answer.status !== 304) throw new Error("it answers " + answer.status);
      last = Date.now();
      contact.hidden = true;
    } catch (error) {
      contact.hidden = false;
      contact.textContent = "Not up to date for " + inWords(Date.now() - last) +
        ": fleet report does not answer any more. Start it again, and open the address that it prints.";
    }
    ages();
    setTimeout(ask, seconds * 1000);
  };
  setTimeout(ask, seconds * 1000);
})();
`;
