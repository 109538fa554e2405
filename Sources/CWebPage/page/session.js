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

/** Finds out whether this browser signed up before. The page shows events without a session, too. */
export async function restore(failures = 0) {
  try {
    const { id } = (await request("GET", "/session")).data;
    // A write may have signed this browser up meanwhile.
    if (user === null) set(id);
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    if (error.isTemporary) setTimeout(() => restore(failures + 1), pauseMilliseconds(error, failures + 1));
  }
}

/** Runs a write as this browser's user, whom the first write creates. */
export async function signedIn(write) {
  if (user === null) set((await request("POST", "/session")).data.id);
  try {
    return await write();
  } catch (error) {
    // The cookie was deleted or its token revoked: the visitor is a new user.
    if (error.status !== 401) throw error;
    set((await request("POST", "/session")).data.id);
    return await write();
  }
}

export async function forget() {
  await request("DELETE", "/session");
  set(null);
}
