// The visitor. The first write signs this browser up; scripts never see its token, which is in a cookie.
import { APIError, newKey, pauseMilliseconds, request } from "./api.js";
import { text } from "./texts.js";

/**
 * What the browser keeps, for ever ("localStorage") or for a tab ("sessionStorage"). A browser that blocks cookies blocks it too, and then
 * it keeps nothing.
 */
export const storage = (kind) => ({
  get(name) {
    try {
      return JSON.parse(window[kind].getItem(name));
    } catch {
      return null;
    }
  },
  /** @param value null removes what was kept */
  set(name, value) {
    try {
      if (value === null) window[kind].removeItem(name);
      else window[kind].setItem(name, JSON.stringify(value));
    } catch {
      // A reload forgets it.
    }
  },
});

const lasting = storage("localStorage");
const ofTab = storage("sessionStorage");

let user = null;
const listeners = new Set();

/** The id of this browser's user; null before the first write. */
export const currentUser = () => user;

/** Under this name the browser keeps the id of its user who moved to another browser, until it has another user. */
const movedKey = "humon.moved";

/** The id of the user who moved from this browser to another one; null for none. */
export const movedUser = () => (user === null ? lasting.get(movedKey) : null);

/** What to tell the visitor about that user. */
export const movedText = (id) => text("who.moved", { id });

/** Calls the function whenever the user changes, with the id, and with that of the user who moved away. */
export const onUserChange = (listener) => listeners.add(listener);

/** The user who moved away, after a write in this window has said so. */
let told = null;

function set(id, moved = null) {
  if (id !== null) told = null;
  if (id !== null || moved !== null) lasting.set(movedKey, moved);
  if (user === id && moved === null) return;
  user = id;
  for (const listener of listeners) listener(user, moved);
  windows.postMessage(null);
}

/** The other windows of the browser: they have the same cookie, so they ask who they are now. */
const windows = new BroadcastChannel("humon");
windows.onmessage = () => restore();

/** The next attempt to find out who this browser is, after one that failed. */
let retrying = null;

/** Finds out who this browser is, if it signed up before. The page shows events without a session, too. */
export async function restore(failures = 0) {
  clearTimeout(retrying);
  const before = user;
  try {
    const { id, moved } = (await request("GET", "/session")).data;
    // A write may have signed this browser up meanwhile.
    if (user === before) set(id, moved);
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    if (error.isTemporary) retrying = setTimeout(() => restore(failures + 1), pauseMilliseconds(error, failures + 1));
  }
}

/** Whether the browser keeps cookies. Without one nobody can write. Chromium says "yes" in `cookieEnabled` where it blocks them. */
export function keepsCookies() {
  const probe = "humon-probe=1";
  try {
    document.cookie = `${probe}; SameSite=Strict`;
    const isKept = document.cookie.includes(probe);
    document.cookie = `${probe}; Max-Age=0`;
    return isKept;
  } catch {
    return false;
  }
}

const withoutCookies = () => new APIError(401, { detail: text("page.cookies.advice") });

/** Signs this browser up. If its user moved away, the first write only says so, also after a reload. */
async function signUp() {
  // Another window may have heard of it, and lost the cookie.
  const heard = lasting.get(movedKey);
  const { id, moved } = heard === null || heard === told ? (await request("POST", "/session")).data : { id: null, moved: heard };
  set(id, moved);
  if (id !== null) return;
  told = moved;
  throw new APIError(401, { detail: movedText(moved) });
}

/** Runs a write as this browser's user, whom the first write creates. */
export async function signedIn(write) {
  if (!keepsCookies()) throw withoutCookies();
  for (let isNew = user === null; ; isNew = true) {
    if (isNew) await signUp();
    try {
      return await write();
    } catch (error) {
      if (error.status !== 401) throw error;
      // A new cookie did not come back. An old one was deleted, or its token revoked: the visitor is a new user.
      if (!isNew) continue;
      set(null);
      throw withoutCookies();
    }
  }
}

/** Under this name the tab keeps the nonce of a return. Nobody comes back by it: it makes a return repeatable, also after a reload. */
const nonceKey = "humon.return";
/** How often a return is sent again if the cookie does not stay. */
const returnLimit = 3;

/**
 * Makes this browser the user of a pass.
 * @param agrees asks whether it shall become the user with the first id, and leave the one with the second, or nobody if that is null
 * @returns {Promise<boolean>} whether it is that user
 */
export async function comeBack(pass, agrees) {
  if (!keepsCookies()) throw withoutCookies();
  const nonce = ofTab.get(nonceKey) ?? newKey();
  ofTab.set(nonceKey, nonce);
  const send = async (agreed) => (await request("POST", "/session/return", { body: { pass, nonce, ...agreed } })).data;
  try {
    const { id, leaves } = await send({});
    if (id !== leaves && !(await agrees(id, leaves))) return false;
    // The answer to an older request with the dead token may remove the new cookie. The same request again gets the same cookie.
    for (let [now, sent] = [leaves, 0]; now !== id; sent += 1) {
      if (sent === returnLimit) throw withoutCookies();
      await send({ user: id });
      now = (await request("GET", "/session")).data.id;
    }
    ofTab.set(nonceKey, null);
    set(id);
    return true;
  } catch (error) {
    // A return before this one had the same token.
    if (error.status === 422) ofTab.set(nonceKey, null);
    throw error;
  }
}

export async function forget() {
  await request("DELETE", "/session");
  set(null);
}

/** How often the page asks whether an erasure has come to its end. */
const questionMilliseconds = 1000;

/** Where this browser keeps the address of an erasure: the server forgets a dead token at the next start of the page. */
const erasureKey = "humon.erasure";

/**
 * Erases this browser's user for ever.
 * @param goesOn called if the server has an answer only later
 */
export async function erase(goesOn) {
  const erased = user;
  const { location } = await request("DELETE", "/v1/users/me");
  if (location !== null) {
    lasting.set(erasureKey, location);
    await finishErasure(goesOn, location);
  }
  // A write meanwhile has made the visitor a new user.
  if (user === erased) await forget();
}

/**
 * Waits for the end of an erasure that this browser asked for, also before a reload.
 * @returns {Promise<boolean>} whether there was one
 */
export async function finishErasure(goesOn, location = lasting.get(erasureKey)) {
  if (location === null) return false;
  goesOn();
  try {
    await end(location);
  } finally {
    lasting.set(erasureKey, null);
  }
  return true;
}

/** Waits for the end of an erasure. A server that does not answer is asked again. */
async function end(location) {
  for (let failures = 0; ;) {
    let pause = questionMilliseconds;
    try {
      if ((await request("GET", location)).data.state === "erased") return;
      failures = 0;
    } catch (error) {
      if (!(error instanceof APIError) || !error.isTemporary) throw error;
      failures += 1;
      pause = pauseMilliseconds(error, failures);
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
