// The page of one event: what only a browser knows. The page is complete without it.
import { byID, element, share } from "./dom.js";
import { text } from "./texts.js";
import { clocksDiffer, longSpan } from "./time.js";

const { start, end, zone } = document.querySelector("article").dataset;

const address = element("code", { class: "secret", dir: "ltr", hidden: true }, location.origin + location.pathname);
const button = byID("share");
button.parentElement.after(address);
button.hidden = false;
button.onclick = () => share(document.title, address);

const here = longSpan({ started_at: start, ended_at: end || null });
if (clocksDiffer(start, zone)) document.querySelector("time").after(" ", element("small", {}, text("event.here", { time: here })));
