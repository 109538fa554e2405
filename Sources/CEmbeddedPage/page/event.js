// The page of one event: what only a browser knows. The page is complete without it.
import { announce, byID, element } from "./dom.js";
import { text } from "./texts.js";
import { longSpan } from "./time.js";

const { start, end, zone } = document.querySelector("article").dataset;
const url = location.origin + location.pathname;

const share = byID("share");
share.hidden = navigator.share === undefined && navigator.clipboard === undefined;
share.onclick = () => (navigator.share
  ? navigator.share({ title: document.title, url }).catch(() => {})
  : navigator.clipboard.writeText(url).then(() => announce(text("event.copied")), () => {}));

const clock = (timeZone) => new Intl.DateTimeFormat("en", { timeZone, dateStyle: "short", timeStyle: "short" }).format(new Date(start));
const here = longSpan({ started_at: start, ended_at: end || null });
if (clock(zone) !== clock()) document.querySelector("time").after(" ", element("small", {}, text("event.here", { time: here })));
