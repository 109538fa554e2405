// The texts of the page in the language that the server chose, and the formats of its numbers. Text is always text: none becomes HTML.

const { assets, language } = document.body.dataset;
const own = new Intl.DateTimeFormat().resolvedOptions().locale;

/** Whether the page has the language of the API. */
export const isEnglish = language === "en";
// Browsers of most languages name American English too, which says nothing of the viewer: the English of all others is British.
const tags = isEnglish ? [own, "en-GB"] : [own, ...navigator.languages, language];
/** The locale of dates and numbers: the viewer's own one if it has the page's language, else another one that the browser names. */
export const locale = tags.find((tag) => tag.split("-")[0] === language);

const read = () => fetch(`${assets}/${language}.json`).then((answer) => (answer.ok ? answer.json() : Promise.reject(answer.status)));
const pauseMilliseconds = 1000;

/** Texts by key. A plural has one for each category of CLDR. The modules that import this one wait for them; the page preloads them. */
const texts = await read()
  .catch(() => new Promise((resolve) => setTimeout(resolve, pauseMilliseconds)).then(read)).catch(() => ({}));

const plurals = new Intl.PluralRules(locale);
export const number = new Intl.NumberFormat(locale);
export const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumSignificantDigits: 3 });

/** Whether there is a text with this key. */
export const has = (key) => Object.hasOwn(texts, key);

/**
 * The text with this key; without one the key, which is of more use than no page.
 * @param values what stands for `{name}` in it. `{count}` is a number, which also chooses the form of a plural.
 */
export function text(key, values = {}) {
  const entry = has(key) ? texts[key] : key;
  const form = typeof entry === "string" ? entry : entry[plurals.select(values.count)] ?? entry.other ?? key;
  return form.replace(/\{(\w+)\}/g, (mark, name) => (name === "count" ? number.format(values.count) : values[name] ?? mark));
}
