/** The opened archive: accounts and chats beside a conversation, and what the keyboard does. */
import type { ArchiveAccount } from "../../domain/archive/ArchiveAccount.ts"
import type { Chat } from "../../domain/archive/Chat.ts"
import { type ChatList, makeChatList } from "./ChatList.ts"
import { type Beginning, type Conversation, openConversation } from "./Conversation.ts"
import { button, fill, make, problem } from "./Elements.ts"
import { makeKeyboard } from "./Keyboard.ts"
import { type OpenedArchive, reasonOf } from "./OpenedArchive.ts"
import { makeSearch } from "./SearchPanel.ts"

/** Asks for all accounts. */
const allAccounts = async (archive: OpenedArchive): Promise<ReadonlyArray<ArchiveAccount>> => {
  const accounts: Array<ArchiveAccount> = []
  for (let more = true; more;) {
    const found = await archive.call("accounts", { after: accounts.at(-1)?.id ?? null })
    accounts.push(...found.accounts)
    more = found.hasMore
  }
  return accounts
}

const welcome = (): HTMLElement =>
  make(
    "div",
    { class: "welcome" },
    make("p", { class: "lead" }, "Choose a chat, or search all of them."),
    make(
      "dl",
      { class: "keys" },
      make("dt", {}, make("kbd", {}, "/")),
      make("dd", {}, "search"),
      make("dt", {}, make("kbd", {}, "f")),
      make("dd", {}, "search in the chat"),
      make("dt", {}, make("kbd", {}, "j"), " ", make("kbd", {}, "k")),
      make("dd", {}, "next and previous chat, hit or message"),
      make("dt", {}, make("kbd", {}, "Esc")),
      make("dd", {}, "back")
    )
  )

/** Shows the archive in the element; answers what takes it away again. */
export const openArchive = (root: HTMLElement, archive: OpenedArchive): () => void => {
  let conversation: Conversation | null = null
  const pane = make("div", { class: "pane" }, welcome())
  const side = make("div", { class: "side" })
  const app = make("div", { class: "archive-app" }, make("h1", { class: "unseen" }, "Archive"), side, pane)

  const closeChat = (): void => {
    conversation?.close()
    conversation = null
    app.classList.remove("in-chat")
    fill(pane, welcome())
    chats.mark(null)
  }

  const openChat = (chat: Chat, beginning: Beginning): void => {
    conversation?.close()
    conversation = openConversation(archive, chat, beginning, {
      back: () => {
        closeChat()
        chats.focus()
      },
      search: searchInChat
    })
    search.setChat(chat)
    fill(pane, conversation.element)
    app.classList.add("in-chat")
    chats.mark(chat)
    if (beginning.at === "newest") document.getElementById("chat-title")?.focus()
  }

  const chats: ChatList = makeChatList(archive, (chat) => openChat(chat, { at: "newest" }))
  const search = makeSearch(archive, chats.accounts, {
    open: (chat, id, marked) => openChat(chat, { at: "message", id, marked }),
    ended: () => chats.show(true),
    began: () => chats.show(false)
  })
  const searchInChat = (): void => {
    closeOnTelephone()
    search.focusInChat()
  }
  const keyboard = makeKeyboard({
    search: () => {
      closeOnTelephone()
      search.focus()
    },
    searchInChat,
    move: (by) => {
      if (side.contains(document.activeElement) || conversation === null) {
        if (search.isOpen()) search.move(by)
        else chats.move(by)
      } else conversation.move(by)
    },
    back: () => {
      if (search.isOpen() && side.contains(document.activeElement)) search.clear()
      else if (conversation !== null) closeChat()
    }
  })
  const closeOnTelephone = (): void => {
    if (getComputedStyle(side).display === "none") closeChat()
  }

  fill(
    side,
    make(
      "div",
      { class: "side-head" },
      make("p", { class: "title", "aria-hidden": "true" }, "Archive"),
      button("Lock", archive.lock, { class: "lock" })
    ),
    search.element,
    chats.element
  )
  fill(root, app)
  allAccounts(archive).then((accounts) => {
    chats.setAccounts(accounts, root.dataset["account"] ?? "")
    search.setAccounts(accounts)
  }).catch((error: unknown) => fill(chats.element, problem(reasonOf(error))))
  return () => {
    keyboard.stop()
    conversation?.close()
    root.replaceChildren()
  }
}
