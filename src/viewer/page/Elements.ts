/** Elements and texts of the page. Whatever is said in the archive becomes a text node, and never markup. */

type Child = Node | string | number | null | undefined | false | ReadonlyArray<Child>

/** Attributes by name; true stands for one without a value. None of them runs anything. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

const isList = (child: Child): child is ReadonlyArray<Child> => Array.isArray(child)

const append = (parent: Node, child: Child): void => {
  if (child === null || child === undefined || child === false) return
  if (isList(child)) { for (const each of child) append(parent, each) }
  else parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)))
}

/** An element with attributes and children. */
export const make = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: ReadonlyArray<Child>
): HTMLElementTagNameMap[Tag] => {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    element.setAttribute(name, value === true ? "" : String(value))
  }
  append(element, children)
  return element
}

/** Replaces what is in the element. */
export const fill = (element: Element, ...children: ReadonlyArray<Child>): void => {
  element.replaceChildren()
  append(element, children)
}

export const button = (
  text: Child,
  press: (event: MouseEvent) => void,
  attributes: Attributes = {}
): HTMLButtonElement => {
  const made = make("button", { type: "button", ...attributes }, text)
  made.addEventListener("click", press)
  return made
}

/** A third party's name: isolated, so that its direction of writing changes nothing around it. */
export const named = (text: string): HTMLElement => make("bdi", { dir: "auto" }, text)

/** A state in words, with a colour and a shape. */
export const tone = (kind: "good" | "caution" | "danger" | "note" | "off", text: string): HTMLElement =>
  make("span", { class: `tone is-${kind}` }, text)

/** A field with its label. */
export const labelled = (label: string, field: HTMLElement & { id: string }): HTMLElement =>
  make("div", { class: "field" }, make("label", { for: field.id }, label), field)

/** Says a state to who cannot see it. */
export const status = (...children: ReadonlyArray<Child>): HTMLElement =>
  make("p", { class: "hint", role: "status" }, ...children)

export const problem = (text: string): HTMLElement =>
  make("div", { class: "problem", role: "alert" }, make("p", {}, text))
