// One event: what, when, where, who attends; its owner can change and cancel it.
import * as api from "./api.js";
import { announce, byID, confirmed, element } from "./dom.js";
import { calendar } from "./list.js";
import { currentUser, signedIn } from "./session.js";
import { distance, longSpan, zone } from "./time.js";

/** @param handlers { close(), edit(event, tag), cancelled(id), attended() } */
export function showDetails(event, tag, handlers) {
  const isMine = event.owner.id === currentUser();
  const problem = element("p", { class: "problem", role: "alert" });
  const buttons = element("div", { class: "buttons" });
  const view = byID("details-view");
  view.dataset.event = event.id;
  view.replaceChildren(
    element("button", { type: "button", class: "back", onclick: handlers.close }, "← All events"),
    element(
      "div", { class: "heading" }, calendar(event),
      element(
        "div", {},
        element("h2", { tabindex: "-1" }, event.name),
        element("p", {}, element("span", { class: "distance" }, distance(event)), isMine && element("span", { class: "badge" }, "yours")))),
    element(
      "dl", {},
      ...row("When", element("time", { datetime: event.started_at }, longSpan(event)), element("small", {}, `Your time zone: ${zone}`)),
      ...row("Where", event.address ?? "", element("small", {}, `${event.lat.toFixed(5)}, ${event.lon.toFixed(5)}`)),
      ...row("Guests", element("span", { id: "attendance" }, "…"))),
    buttons, problem);
  const run = (work) => async (click) => {
    problem.textContent = "";
    click.target.disabled = true;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof api.APIError)) throw error;
      problem.textContent = error.message;
    } finally {
      click.target.disabled = false;
    }
  };
  showAttendance(event.id, buttons, run, handlers);
  if (isMine) {
    buttons.append(
      element("button", { type: "button", onclick: () => handlers.edit(event, tag) }, "Change"),
      element("button", { type: "button", class: "danger", onclick: run(() => cancel(event, handlers)) }, "Cancel the event"));
  }
}

const row = (name, ...values) => [element("dt", {}, name), element("dd", {}, ...values)];

async function cancel(event, handlers) {
  const isSure = await confirmed(`Cancel “${event.name}”? Nothing brings it back.`, { yes: "Cancel the event" });
  if (!isSure) return;
  // The stream of changes may tell before the answer does.
  const view = byID("details-view");
  view.dataset.ending = event.id;
  try {
    await signedIn(() => api.cancel(event.id));
  } finally {
    delete view.dataset.ending;
  }
  announce(`“${event.name}” is cancelled.`);
  handlers.cancelled(event.id);
}

/** Shows how many attend, and a button to attend or to leave. */
async function showAttendance(id, buttons, run, { attended }) {
  const text = byID("attendance");
  const button = element("button", { type: "button" });
  const show = ({ count, attending }) => {
    const people = count === 0 ? "Nobody attends yet" : count === 1 ? "1 person attends" : `${count} people attend`;
    text.textContent = `${people}${attending ? ", and you are one of them" : ""}.`;
    button.textContent = attending ? "Leave" : "Attend";
    button.className = attending ? "" : "primary";
    button.onclick = run(async () => {
      await signedIn(() => (attending ? api.leave(id) : api.attend(id)));
      show(await api.attendance(id));
      announce(attending ? "You left the event." : "You attend the event.");
      attended();
    });
  };
  try {
    show(await api.attendance(id));
    buttons.prepend(button);
  } catch (error) {
    if (!(error instanceof api.APIError)) throw error;
    text.textContent = "The number is not known now.";
  }
}
