// What the visitor looks for: { when, kind, words }. The kind is null for all, the words are "" for none.
import { folded } from "./place.js";
import { isIn, windowOf } from "./time.js";

/** The most words of a search. */
const mostWords = 8;

/** The words of a text, folded. */
const wordsOf = (text) => folded(text ?? "").split(/[^\p{L}\p{N}]+/u).filter(Boolean);

/** What was typed, as a search takes it: "" without a word, and without the words that are too many. */
export const searched = (typed) => (wordsOf(typed).length > mostWords ? wordsOf(typed).slice(0, mostWords).join(" ") : wordsOf(typed).length > 0 ? typed : "");

/** The filter as fields of a query to the API. */
export const queryOf = ({ when, kind, words }, now) => ({ ...windowOf(when, now), category: kind, q: searched(words) || null });

/** The filter as one text: two that show the same events are equal. */
export const keyOf = ({ when, kind, words }) => JSON.stringify([when, kind, words]);

/** The events that the filter shows. The API alone decides that for others' events; it folds words of more scripts. */
export function shown(events, { when, kind, words }, now = new Date()) {
  const [looked, isOn] = [wordsOf(words), isIn(when, now)];
  const hasWords = (event) => {
    const known = [...wordsOf(event.name), ...wordsOf(event.address)];
    return looked.every((word) => known.some((other) => other.startsWith(word)));
  };
  return events.filter((event) => isOn(event) && (kind === null || event.category === kind) && hasWords(event));
}
