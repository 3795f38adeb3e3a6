/** The choice of accounts on the consent page: all, those that are ticked, or those in departments. */
import * as PhoneNumber from "../../../domain/logins/PhoneNumber.ts"
import { choicesSearched, maxChosen } from "../../../domain/oauth/OAuth.ts"
import type { Choices, ListPart } from "../../../ports/oauth/OAuthPorts.ts"
import { Fields, Html, html, type SentForm } from "../kit/index.ts"

/** The form's values; those of one kind of choice are kept while another kind is picked. */
export interface AccountChoiceDraft {
  readonly by: "all" | "accounts" | "departments"
  readonly accounts: ReadonlyArray<string>
  readonly departments: ReadonlyArray<string>
  readonly findAccount: string
  readonly findDepartment: string
}

const maxFind = 100

export const empty: AccountChoiceDraft = {
  by: "accounts",
  accounts: [],
  departments: [],
  findAccount: "",
  findDepartment: ""
}

/** The searched text; the database knows no text with a NUL. */
const needle = (text: string): string => text.replaceAll("\0", "").slice(0, maxFind)

export const read = (form: SentForm.Form): AccountChoiceDraft => {
  const by = form.text("scope_type")
  return {
    by: by === "all" || by === "departments" ? by : "accounts",
    accounts: [...new Set(form.all("account"))],
    departments: [...new Set(form.all("department"))],
    findAccount: needle(form.text("find_account")),
    findDepartment: needle(form.text("find_department"))
  }
}

/** The ids that are chosen the way that is picked. */
export const chosen = ({ accounts, by, departments }: AccountChoiceDraft): ReadonlyArray<string> =>
  by === "all" ? [] : by === "accounts" ? accounts : departments

/** The fault of the choice, if it has one. */
export const fault = (draft: AccountChoiceDraft, { accounts, departments }: Choices): string | undefined => {
  const { length } = chosen(draft)
  return draft.by === "all" || accounts.total + departments.total === 0
    ? undefined
    : length === 0
    ? "Choose at least one account or department."
    : length > maxChosen
    ? `At most ${maxChosen} can be ticked one by one: choose departments or all accounts instead.`
    : undefined
}

/** The draft's searches and ticked choices, for the lists to show. */
export const wanted = ({ accounts, departments, findAccount, findDepartment }: AccountChoiceDraft) => ({
  accounts: { find: findAccount, ticked: accounts },
  departments: { find: findDepartment, ticked: departments }
})

interface Item {
  readonly id: string
  readonly name: string
  readonly hint?: string
}

export interface ChoiceList {
  readonly kind: "account" | "department"
  readonly items: ListPart<Item>
  readonly ticked: ReadonlyArray<string>
  readonly find: string
  readonly action: string
  /** The id of what the list belongs to, where a search leads. */
  readonly anchor?: string
  /** The id of what follows the list. */
  readonly next: string
}

const box = (kind: ChoiceList["kind"], { hint, id, name }: Item, checked: boolean): Html.Html =>
  Fields.choice({
    type: "checkbox",
    id: `${kind}-${id}`,
    name: kind,
    value: id,
    label: Html.named(name),
    hint: hint === undefined || hint === "" ? undefined : Html.named(hint),
    checked
  })

const number = (count: number): string => count.toLocaleString("en")

const search = ({ action, anchor = "reach", find, kind }: ChoiceList): Html.Html =>
  html`
  <div class="search" role="search">
    <label for="find-${kind}">Find ${kind === "account" ? "an account" : "a department"}</label>
    <div class="row">
      <input type="search" id="find-${kind}" name="find_${kind}" value="${find}" maxlength="${maxFind}" autocomplete="off" spellcheck="false">
      <button name="decision" value="search" formnovalidate formaction="${action}#${anchor}">Search</button>
    </div>
  </div>`

/** A list to tick in: whole when it is short, else what is ticked, what is found, and a field to search with. */
export const list = (shown: ChoiceList): Html.Html => {
  const { find, items, kind } = shown
  const { found, matching, total } = items
  const plural = `${kind}s`
  if (total <= choicesSearched) {
    const ticked = new Set(shown.ticked)
    return html`
  <div class="choices by-${plural}" role="group" aria-label="${plural}" tabindex="0">
    ${found.map((item) => box(kind, item, ticked.has(item.id)))}
  </div>`
  }
  return html`
  <div class="by-${plural}">
    <a class="skip here" href="#${shown.next}">Skip the ${plural}</a>
    ${search(shown)}
    <div class="choices" role="group" aria-label="${plural}" tabindex="0">
      ${items.ticked.length === 0 ? undefined : html`<p class="part">Ticked: ${number(items.ticked.length)}</p>`}
      ${items.ticked.map((item) => box(kind, item, true))}
      <p class="part" role="status">${
    found.length === 0
      ? `No other ${kind} is found.`
      : find.trim() === ""
      ? `${number(found.length)} of ${number(total)} ${plural}. Search to find others.`
      : `Found: ${number(matching)}${matching > found.length ? `, of which ${found.length} are listed` : ""}`
  }</p>
      ${found.map((item) => box(kind, item, false))}
    </div>
  </div>`
}

type Account = Choices["accounts"]["found"][number]

export const accountItem = ({ id, name, phone_number, role_label }: Account): Item => ({
  id,
  name,
  hint: [
    ...(name === phone_number ? [] : [PhoneNumber.shown(phone_number)]),
    ...(role_label === null ? [] : [role_label])
  ].join(" · ")
})

/** The whole choice; `action` is where its form leads. */
export const field = (
  { accounts, departments }: Choices,
  draft: AccountChoiceDraft,
  faults: Html.Faults,
  action: string
): Html.Html => {
  if (accounts.total + departments.total === 0) {
    return html`
<fieldset id="reach">
  <legend>Which accounts it may use</legend>
  <p class="hint">You have access to no accounts, so the application has access to none either.</p>
  <input type="hidden" name="scope_type" value="accounts">
</fieldset>`
  }
  const radio = (by: AccountChoiceDraft["by"], text: string, hint: string) =>
    Fields.choice({
      type: "radio",
      id: `by-${by}`,
      name: "scope_type",
      value: by,
      label: text,
      hint,
      checked: draft.by === by
    })
  return html`
<fieldset id="reach">
  <legend>Which accounts it may use</legend>
  ${Html.fault(faults, "reach")}
  ${radio("accounts", "Chosen accounts", "Only those that you tick.")}
  ${
    list({
      kind: "account",
      items: { ...accounts, ticked: accounts.ticked.map(accountItem), found: accounts.found.map(accountItem) },
      ticked: draft.accounts,
      find: draft.findAccount,
      action,
      next: "scopes"
    })
  }
  ${
    departments.total === 0 ?
      undefined :
      html`${radio("departments", "Departments", "Whichever accounts are in them at the time.")}
  ${
        list({
          kind: "department",
          items: departments,
          ticked: draft.departments,
          find: draft.findDepartment,
          action,
          next: "scopes"
        })
      }`
  }
  ${
    radio(
      "all",
      "All accounts",
      `Whatever you have access to yourself: ${number(accounts.total)} now, and every one that is added later.`
    )
  }
</fieldset>`
}
