/** HTML that is safe by the way it is made: whatever is put into a template is escaped, unless a template made it. */

const brand = Symbol("html");

export interface Html {
  readonly [brand]: string;
}

type Value = Html | string | number | undefined | readonly Html[];

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string =>
  !/[&<>"']/.test(text) ? text : text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");

function textOf(value: Value): string {
  if (value === undefined) return "";
  if (typeof value === "string" || typeof value === "number") return escaped(String(value));
  return brand in value ? value[brand] : value.map((each) => each[brand]).join("");
}

/** A template of HTML; values stand between tags or in quoted attributes. */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html => ({
  [brand]: parts.map((part, index) => part + textOf(values[index])).join(""),
});

/** Text that is not escaped: the page's own style and script. */
export const trusted = (text: string): Html => ({ [brand]: text });

/** What a browser gets. */
export const markupOf = (value: Html): string => value[brand];

/** A link, or only its text where there is no address of the web. */
export const link = (address: string | undefined, text: string): Html =>
  address !== undefined && /^https?:\/\//.test(address)
    ? html`<a href="${address}" rel="noreferrer">${text}</a>`
    : html`${text}`;
