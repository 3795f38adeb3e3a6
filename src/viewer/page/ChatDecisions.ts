/** Chats that wait for a decision: archive them or skip them, one or many at once. */
import type { Chat } from "../../domain/archive/Chat.ts"
import { button, fill, make, named, problem, status } from "./Elements.ts"
import { type OpenedArchive, reasonOf, titleOf } from "./OpenedArchive.ts"
import { plural } from "./Texts.ts"

/** The ids of the chats that are decided about, and what is said of others that were refused. */
type Decided = (ids: ReadonlySet<string>, effect: Chat["effect"], refused: string | null) => void

export const makeDecisions = (
  archive: OpenedArchive,
  chats: ReadonlyArray<Chat>,
  refused: string | null,
  decided: Decided
): HTMLElement => {
  const said = make("div", {}, refused === null ? null : problem(refused))
  const boxes = chats.map((chat) => ({
    chat,
    box: make("input", { type: "checkbox", id: `review-${chat.id}`, value: chat.id })
  }))

  const decide = async (effect: "archive" | "skip"): Promise<void> => {
    const chosen = boxes.filter(({ box }) => box.checked).map(({ chat }) => chat)
    const [first] = chosen
    if (first === undefined) return fill(said, problem("Tick the chats that you decide about."))
    fill(said, status(`Deciding about ${plural(chosen.length, "chat")} …`))
    try {
      const answer = await archive.call("decide", { accountId: first.account_id, chats: chosen, effect })
      const open = chosen.length - answer.decided.length
      const reason = answer.refusal === null ? null : `Not decided about ${plural(open, "chat")}: ${answer.refusal}`
      decided(new Set(answer.decided), effect, reason)
    } catch (error) {
      fill(said, problem(reasonOf(error)))
    }
  }

  const all = make("input", { type: "checkbox", id: "review-all" })
  all.addEventListener("change", () => {
    for (const { box } of boxes) box.checked = all.checked
  })
  return make(
    "details",
    { class: "to-review", open: refused !== null },
    make("summary", {}, `${plural(chats.length, "chat")} to review`),
    make(
      "p",
      { class: "hint" },
      "The rules leave them to you. What is decided here is a rule for this account and chat."
    ),
    make(
      "p",
      { class: "hint" },
      "Files are archived as the rule says that left the chat to you. They are not where no rule did, and not where the messenger asks its clients not to save from the chat; the rule can be changed under Archive rules."
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
