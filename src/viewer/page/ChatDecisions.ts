/** Chats that wait for a decision: archive them or skip them, one or many at once. */
import type { Chat } from "../../domain/archive/Chat.ts"
import { button, fill, make, named, problem, status } from "./Elements.ts"
import { type OpenedArchive, reasonOf, titleOf } from "./OpenedArchive.ts"
import { plural } from "./Texts.ts"

type Decided = (ids: ReadonlySet<string>, effect: Chat["effect"]) => void

export const makeDecisions = (
  archive: OpenedArchive,
  chats: ReadonlyArray<Chat>,
  _role: string,
  decided: Decided
): HTMLElement => {
  const said = make("div", {})
  const boxes = chats.map((chat) => ({
    chat,
    box: make("input", { type: "checkbox", id: `review-${chat.id}`, value: chat.id })
  }))

  const decide = async (effect: "archive" | "skip"): Promise<void> => {
    const chosen = boxes.filter(({ box }) => box.checked).map(({ chat }) => chat)
    if (chosen.length === 0) return fill(said, problem("Tick the chats that you decide about."))
    const done = new Set<string>()
    try {
      for (const { account_id, id } of chosen) {
        fill(said, status(`${done.size} of ${chosen.length} …`))
        await archive.call("decide", { accountId: account_id, chatId: id, effect })
        done.add(id)
      }
      decided(done, effect)
    } catch (error) {
      if (done.size > 0) decided(done, effect)
      fill(said, problem(reasonOf(error)))
    }
  }

  const all = make("input", { type: "checkbox", id: "review-all" })
  all.addEventListener("change", () => {
    for (const { box } of boxes) box.checked = all.checked
  })
  return make(
    "details",
    { class: "to-review" },
    make("summary", {}, `${plural(chats.length, "chat")} to review`),
    make(
      "p",
      { class: "hint" },
      "The rules leave them to you. What is decided here is a rule for this account and chat."
    ),
    make("div", { class: "choice" }, all, make("label", { for: "review-all" }, "All of them")),
    make(
      "div",
      { class: "choices" },
      boxes.map(({ box, chat }) =>
        make("div", { class: "choice" }, box, make("label", { for: box.id }, named(titleOf(chat))))
      )
    ),
    said,
    make(
      "div",
      { class: "actions after" },
      button("Archive", () => void decide("archive"), { class: "main" }),
      button("Skip", () => void decide("skip"))
    )
  )
}
