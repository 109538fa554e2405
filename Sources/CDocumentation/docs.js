// What the page /docs can do besides being read: requests fold, a field filters them, and each can be sent to this server.
"use strict";

const byID = (id) => document.getElementById(id);
const main = byID("top");
const articles = [...main.querySelectorAll("article")];

// Folding. Without a script everything is unfolded.

/** Unfolds the part of the page that the address names, with what is around it. */
function showTarget() {
  const target = byID(location.hash.slice(1));
  if (!target || !main.contains(target) || target === main) return;
  if (target.closest("[hidden]")) filter("");
  for (let part = target.querySelector(":scope > details") ?? target; part; part = part.parentElement) {
    if (part instanceof HTMLDetailsElement) part.open = true;
  }
  target.scrollIntoView();
}

function fold(isOpen) {
  for (const article of articles) article.firstElementChild.open = isOpen;
  byID("fold").textContent = isOpen ? "Fold all" : "Unfold all";
}

byID("fold").addEventListener("click", () => fold(byID("fold").textContent === "Unfold all"));
addEventListener("hashchange", showTarget);
// A second click on a link changes no address.
document.addEventListener("click", (event) => {
  if (event.target.closest("a")?.hash === location.hash && location.hash) showTarget();
});

// Filter

/** What the filter searches. */
const texts = articles.map((article) => `${article.id} ${article.textContent}`.toLowerCase());

/** Shows the requests and errors that have each of the words. */
function filter(text) {
  if (byID("filter").value !== text) byID("filter").value = text;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = articles.filter((article, number) => {
    article.hidden = !words.every((word) => texts[number].includes(word));
    return !article.hidden;
  });
  for (const link of document.querySelectorAll("nav li a")) link.parentElement.hidden = byID(link.hash.slice(1)).hidden;
  for (const section of main.querySelectorAll("section")) section.hidden = !section.querySelector("article:not([hidden])");
  for (const list of document.querySelectorAll("nav ul")) {
    list.hidden = list.previousElementSibling.hidden = !list.querySelector("li:not([hidden])");
  }
  byID("count").textContent = words.length ? `${found.length} of ${articles.length}` : "";
}

byID("filter").addEventListener("input", () => filter(byID("filter").value));

// Trying a request

const secrets = [...byID("secrets").querySelectorAll("input")];

/** Runs a function that the browser refuses where it keeps no data of pages. Then a secret lasts as long as the document. */
function storing(use) {
  try { return use(sessionStorage); } catch { return null; }
}

for (const input of secrets) {
  input.value = storing((storage) => storage.getItem(`docs ${input.name}`)) ?? "";
  input.addEventListener("input", () => storing((storage) => storage.setItem(`docs ${input.name}`, input.value)));
}

/** The request of a line for curl. Its variables are the names of the secrets. */
function parsed(line) {
  const [, method, target] = line.match(/^curl (?:-X (\w+) )?"\$HUMON([^"]*)"/);
  const body = line.match(/-d '([^]*)'$/)?.[1].replaceAll("'\\''", "'");
  const headers = [...line.matchAll(/-H ["']([\w-]+): ([^"']*)["']/g)];
  // A server may show events to devices only.
  if (!method && headers.length === 0) headers.push(["", "tb-device-token", "$TOKEN"]);
  return { method: method ?? "GET", target, body, headers };
}

/** The header fields with the secrets; a field of a secret that was not typed is left out. */
function fields(headers) {
  const found = new Headers();
  for (const [, name, value] of headers) {
    let isWhole = true;
    const filled = value.replace(/\$(\w+)/, (_, variable) => {
      const secret = secrets.find((input) => input.name === variable).value.trim();
      isWhole = secret !== "";
      return secret;
    });
    if (isWhole) found.set(name, filled);
  }
  return found;
}

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// A response may be long, and a stream of changes has no end.
const LIMIT_CHARACTERS = 65_536;

/** Shows a response while it comes, until the limit. */
async function show(response, answer, controller) {
  const names = ["content-type", "location", "link", "etag", "humon-position", "retry-after"];
  const headers = names.filter((name) => response.headers.has(name)).map((name) => `${name}: ${response.headers.get(name)}\n`);
  answer.textContent = `${headers.join("")}\n`;
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (reader) {
    const { value, done } = await reader.read();
    if (done) return;
    answer.append(value.slice(0, LIMIT_CHARACTERS - answer.textContent.length));
    if (answer.textContent.length < LIMIT_CHARACTERS) continue;
    answer.append("\n… (longer than the page shows)");
    return controller.abort();
  }
}

/** The form that sends the request of an article. */
function form(line) {
  const { method, target, body, headers } = parsed(line);
  const path = element("input", { value: target, spellcheck: false });
  const text = body === undefined ? null : element("textarea", { value: body, rows: 4, spellcheck: false });
  const send = element("button", {}, "Send");
  const status = element("p", {}), answer = element("pre", { tabIndex: 0, hidden: true });
  status.setAttribute("role", "status");
  answer.setAttribute("role", "region");
  answer.setAttribute("aria-label", "Response");
  const made = element("form", { className: "try" }, element("h4", {}, "Try it"), element("label", {}, "Path", path));
  if (text) made.append(element("label", {}, "Body", text));
  made.append(send, status, answer);
  let running = null;
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (running) return running.abort();
    answer.hidden = true;
    // Secrets go to this server only, so neither to another origin nor along a redirection.
    const url = URL.canParse(path.value, location.origin) ? new URL(path.value, location.origin) : null;
    if (url?.origin !== location.origin) return void (status.textContent = "The path must be one of this server.");
    if (method === "DELETE" && !confirm(`Send DELETE ${url.pathname}?`)) return void (status.textContent = "Not sent.");
    const controller = (running = new AbortController());
    [send.textContent, status.textContent] = ["Stop", "Sending…"];
    try {
      const response = await fetch(url, {
        method, headers: fields(headers), body: text?.value, signal: controller.signal,
        cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
      });
      status.textContent = `${response.status} ${response.statusText}`;
      answer.hidden = false;
      await show(response, answer, controller);
    } catch (error) {
      if (!controller.signal.aborted) status.textContent = `No response: ${error.message}`;
      else if (answer.hidden) status.textContent = "Stopped.";
    } finally {
      [running, send.textContent] = [null, "Send"];
    }
  });
  return made;
}

for (const article of articles) {
  const line = article.querySelector(".curl");
  const details = article.firstElementChild;
  if (!line) continue;
  details.addEventListener("toggle", () => {
    if (details.open && !details.querySelector(".try")) line.after(form(line.textContent));
  });
}

for (const part of document.querySelectorAll(".scripted")) part.hidden = false;
fold(false);
showTarget();
