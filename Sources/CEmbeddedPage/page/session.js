// The visitor. The first write signs this browser up; scripts never see its token, which is in a cookie.
import { APIError, pauseMilliseconds, request } from "./api.js";

let user = null;
const listeners = new Set();

/** The id of this browser's user; null before the first write. */
export const currentUser = () => user;

/** Calls the function whenever the user changes. */
export const onUserChange = (listener) => listeners.add(listener);

function set(id) {
  if (user === id) return;
  user = id;
  for (const listener of listeners) listener(user);
}

/** Finds out who this browser is, if it signed up before. The page shows events without a session, too. */
export async function restore(failures = 0) {
  const before = user;
  try {
    const { id } = (await request("GET", "/session")).data;
    // A write may have signed this browser up meanwhile.
    if (user === before) set(id);
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    if (error.isTemporary) setTimeout(() => restore(failures + 1), pauseMilliseconds(error, failures + 1));
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

/** What to tell a visitor whose browser keeps no cookies. */
export const cookieAdvice = "Your browser keeps no cookies for this page, so it could not tell the server who you are. Allow cookies for "
  + "this page, and load it again.";

const withoutCookies = () => new APIError(401, { detail: cookieAdvice });

/** Runs a write as this browser's user, whom the first write creates. */
export async function signedIn(write) {
  if (!keepsCookies()) throw withoutCookies();
  for (let isNew = user === null; ; isNew = true) {
    if (isNew) set((await request("POST", "/session")).data.id);
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

export async function forget() {
  await request("DELETE", "/session");
  set(null);
}

/** How often the page asks whether an erasure has come to its end. */
const questionMilliseconds = 1000;

/** Where this browser keeps the address of an erasure: the server forgets a dead token at the next start of the page. */
const erasureKey = "humon.erasure";
const lasting = storage("localStorage");

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
