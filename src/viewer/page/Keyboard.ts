/** Keys of the viewer; none of them does anything while a field is typed in, but for the one that leaves it. */

export interface Keys {
  readonly search: () => void
  readonly searchInChat: () => void
  readonly move: (by: 1 | -1) => void
  readonly back: () => void
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement

export const makeKeyboard = ({ back, move, search, searchInChat }: Keys): { readonly stop: () => void } => {
  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    const { key, target } = event
    if (key === "Escape") {
      if (isTyping(target) && target instanceof HTMLElement) target.blur()
      return back()
    }
    if (isTyping(target)) return
    const act = {
      "/": search,
      f: searchInChat,
      j: () => move(1),
      ArrowDown: () => move(1),
      k: () => move(-1),
      ArrowUp: () => move(-1)
    }
    const known = Object.entries(act).find(([name]) => name === key)?.[1]
    if (known === undefined) return
    event.preventDefault()
    known()
  }
  document.addEventListener("keydown", press)
  return { stop: () => document.removeEventListener("keydown", press) }
}
