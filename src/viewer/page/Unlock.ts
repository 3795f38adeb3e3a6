/** Asking for the archive password. */
import { button, fill, labelled, make, problem, status } from "./Elements.ts"

export interface Asking {
  readonly element: HTMLElement
  readonly focus: () => void
}

/** The form; `open` fails where the password is not the one, with the reason. */
export const askPassword = (
  notice: string | null,
  role: string,
  open: (password: string) => Promise<void>
): Asking => {
  const input = make("input", {
    type: "password",
    id: "archive-password",
    autocomplete: "off",
    required: true,
    maxlength: 1024
  })
  const said = make("div", {})
  const submit = make("button", { class: "main" }, "Open the archive")
  const form = make(
    "form",
    { class: "card" },
    labelled("Archive password", input),
    make("div", { class: "actions" }, submit),
    make(
      "p",
      { class: "hint" },
      role === "owner"
        ? make("a", { href: "archive-key" }, "Change or recover the password")
        : "The organization's owner sets the password, and recovers it."
    )
  )
  form.addEventListener("submit", async (event) => {
    event.preventDefault()
    const password = input.value
    if (password === "") return
    submit.disabled = true
    fill(said, status("Deriving the key from the password …"))
    try {
      await open(password)
      input.value = ""
    } catch (error) {
      fill(said, problem(error instanceof Error ? error.message : String(error)))
      submit.disabled = false
      input.select()
    }
  })
  const show = button("Show", () => {
    const hidden = input.type === "password"
    input.type = hidden ? "text" : "password"
    fill(show, hidden ? "Hide" : "Show")
    input.focus()
  }, { class: "link", "aria-controls": input.id })
  input.after(show)
  const element = make(
    "div",
    { class: "unlock" },
    make("h1", {}, "Archive"),
    notice === null ? null : make("p", { class: "note", role: "status" }, notice),
    make(
      "p",
      { class: "lead" },
      "Chats are opened in this browser. Neither the password nor a message that it opens is sent to the service, and nothing stays when this page is closed."
    ),
    said,
    form
  )
  return { element, focus: () => input.focus() }
}
