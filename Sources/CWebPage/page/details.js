// One event: what, when, where, who attends; its owner can change and cancel it.
import * as api from "./api.js";
import { announce, byID, confirmed, element } from "./dom.js";
import { currentUser, signedIn } from "./session.js";
import { longTime, zone } from "./time.js";

/** @param handlers { close(), edit(event, tag), cancelled(id) } */
export function showDetails(event, tag, handlers) {
  const isMine = event.owner.id === currentUser();
  const problem = element("p", { class: "problem", role: "alert" });
  const buttons = element("div", { class: "buttons" });
  const view = byID("details-view");
  view.dataset.event = event.id;
  view.replaceChildren(
    element("button", { type: "button", class: "back", onclick: handlers.close }, "← Back to the list"),
    element("h2", { tabindex: "-1" }, event.name),
    element(
      "dl", {},
      ...row("Starts", element("time", { datetime: event.started_at }, longTime(event.started_at))),
      ...(event.ended_at ? row("Ends", element("time", { datetime: event.ended_at }, longTime(event.ended_at))) : []),
      ...(event.address ? row("Address", event.address) : []),
      ...row("Place", `${event.lat.toFixed(5)}, ${event.lon.toFixed(5)}`),
      ...row("Time zone", zone)),
    element("p", { id: "attendance" }, "…"),
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
  showAttendance(event.id, buttons, run);
  if (isMine) {
    buttons.append(
      element("button", { type: "button", onclick: () => handlers.edit(event, tag) }, "Change"),
      element("button", { type: "button", class: "danger", onclick: run(() => cancel(event, handlers)) }, "Cancel the event"));
  }
}

const row = (name, value) => [element("dt", {}, name), element("dd", {}, value)];

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
async function showAttendance(id, buttons, run) {
  const text = byID("attendance");
  const button = element("button", { type: "button", class: "primary" });
  const show = ({ count, attending }) => {
    text.textContent = `${count === 1 ? "1 person attends" : `${count} people attend`}${attending ? ", and you are one of them" : ""}.`;
    button.textContent = attending ? "Leave" : "Attend";
    button.onclick = run(async () => {
      await signedIn(() => (attending ? api.leave(id) : api.attend(id)));
      show(await api.attendance(id));
      announce(attending ? "You left the event." : "You attend the event.");
    });
  };
  try {
    show(await api.attendance(id));
    buttons.prepend(button);
  } catch (error) {
    if (!(error instanceof api.APIError)) throw error;
    text.textContent = "";
  }
}
