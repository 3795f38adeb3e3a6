/** The fields of forms. Each shows its hint and its fault, which assistive technology reads with it. */
import * as Html from "./Html.ts"
import { html } from "./Html.ts"

/** Further attributes by their names: `true` stands alone, what is `false` or not there is left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

const attributes = (all: Attributes): ReadonlyArray<Html.Html> =>
  Object.entries(all).flatMap(([name, value]) =>
    value === undefined || value === false ? [] : [value === true ? html` ${name}` : html` ${name}="${value}"`]
  )

/** A field's name in the form, and its id where that differs. */
export interface Field {
  readonly name: string
  readonly id?: string
  readonly label: string
  readonly hint?: Html.Value
}

const field = ({ hint, id = "", label }: Field, faults: Html.Faults, control: Html.Html): Html.Html =>
  html`<div class="field">
    <label for="${id}">${label}</label>
    ${hint === undefined ? undefined : html`<p class="hint" id="${id}-hint">${hint}</p>`}
    ${Html.fault(faults, id)}
    ${control}
  </div>`

/** A line of text, unless `more` says otherwise. */
export const input = (faults: Html.Faults, asked: Field, more: Attributes = {}): Html.Html => {
  const { hint, id = asked.name, name } = asked
  return field(
    { ...asked, id },
    faults,
    html`<input${attributes({ type: "text", id, name, ...more })}${Html.described(faults, id, hint !== undefined)}>`
  )
}

/** The attributes of texts that browsers neither fill in nor correct. */
export const verbatim = { autocomplete: "off", spellcheck: "false" } as const

export interface Password extends Partial<Field> {
  /** The address of whose password it is, by which password managers find it. */
  readonly username?: string
  readonly autocomplete?: "current-password" | "new-password" | "off"
  readonly required?: boolean
}

/** A password; that of the console, unless the label says otherwise. */
export const password = (faults: Html.Faults, asked: Password = {}): Html.Html => {
  const { autocomplete = "current-password", hint, label = "Console password", required = true, username } = asked
  const { name = "password", id = name } = asked
  return field(
    { id, name, label, hint },
    faults,
    html`${username === undefined ? undefined : usernameOf(username)}
    <input${attributes({ type: "password", id, name, required, autocomplete })}${
      Html.described(faults, id, hint !== undefined)
    }>`
  )
}

/** Tells a password manager whose password a form asks for. */
const usernameOf = (email: string): Html.Html =>
  html`<input type="text" name="username" value="${email}" autocomplete="username" hidden>`

/** A text of several lines. */
export const textarea = (faults: Html.Faults, asked: Field, text: string, more: Attributes): Html.Html => {
  const { hint, id = asked.name, name } = asked
  return field(
    { ...asked, id },
    faults,
    html`<textarea${attributes({ id, name, ...more })}${Html.described(faults, id, hint !== undefined)}>
${text}</textarea>`
  )
}

type Options = ReadonlyArray<readonly [value: string, text: string]>

const options = (all: Options, chosen: string | undefined): ReadonlyArray<Html.Html> =>
  all.map(([value, text]) => html`<option value="${value}"${value === chosen ? " selected" : ""}>${text}</option>`)

/** One of several, from a list that folds out. */
export const select = (faults: Html.Faults, asked: Field, all: Options, chosen: string): Html.Html => {
  const { id = asked.name, name } = asked
  return field(
    { ...asked, id },
    faults,
    html`<select id="${id}" name="${name}"${Html.described(faults, id, false)}>${options(all, chosen)}</select>`
  )
}

/** One of several, in a line with others. */
export const filter = (name: string, label: string, all: Options, chosen: string | undefined): Html.Html =>
  html`<div>
    <label for="${name}">${label}</label>
    <select id="${name}" name="${name}">${options(all, chosen)}</select>
  </div>`

export interface Choice {
  readonly type: "checkbox" | "radio"
  readonly id: string
  readonly name: string
  readonly value: string
  readonly label: Html.Value
  readonly hint?: Html.Value
  readonly checked: boolean
  readonly required?: boolean
}

/** A box to tick, or one of several to pick. */
export const choice = ({ checked, hint, id, label, name, required, type, value }: Choice): Html.Html =>
  html`<div class="choice">
    <input${attributes({ type, id, name, value, required, checked })}>
    <label for="${id}"><span class="name">${label}</span>${
    hint === undefined ? undefined : html` <span class="hint">${hint}</span>`
  }</label>
  </div>`
