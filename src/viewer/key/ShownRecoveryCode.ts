/** The recovery code, on the only page that ever shows it. */
import { button, fill, make } from "../page/Elements.ts"

/** Replaces the page by the code, which is gone once the page is left. */
export const showCode = (main: Element, code: string, home: string): void => {
  const heading = make("h1", { tabindex: -1 }, "Recovery code")
  const field = make("input", {
    type: "text",
    class: "key",
    id: "secret-field",
    value: code,
    readonly: true,
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": "secret-field-hint"
  })
  const shown = make(
    "section",
    { "aria-label": "The code" },
    make("code", { class: "secret", id: "secret", translate: "no" }, code),
    make(
      "div",
      { class: "field by-keyboard" },
      make("label", { for: field.id }, "With the keyboard"),
      make(
        "p",
        { class: "hint", id: "secret-field-hint" },
        "Tab into this field: the whole code is selected in it, ready to copy."
      ),
      field
    )
  )
  fill(
    main,
    heading,
    make("p", { class: "good", role: "status" }, "The archive password is set."),
    make(
      "p",
      { class: "lead" },
      "Print this code, and keep it where you keep what the organization cannot lose. It opens the archive if the password is forgotten. It was made in this browser and is shown this once, and one from before no longer works."
    ),
    shown,
    make(
      "div",
      { class: "actions" },
      button("Print it", () => globalThis.print()),
      make("a", { class: "button main", href: home }, "I have kept it")
    )
  )
  document.title = "Recovery code · Security Console"
  addEventListener("pagehide", () => fill(shown, make("p", {}, "The code was shown once.")))
  heading.focus()
}
