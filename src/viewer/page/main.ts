/** The viewer of the archive, in the browser: asks for the password, shows chats, and locks itself. */
import { openArchive } from "./Archive.ts"
import { fill, make } from "./Elements.ts"
import { whenIdle } from "./IdleLock.ts"
import { missing } from "./MissingFeatures.ts"
import { askPassword } from "./Unlock.ts"
import { makeNotice } from "./WaitNotice.ts"
import { CallFailed, type Client, makeClients } from "./Worker.ts"

/** Roles that the page of redactions is for. */
const superadmins = ["owner", "superadmin"]

const root = document.getElementById("viewer")

const showMissing = (root: HTMLElement, features: ReadonlyArray<string>): void =>
  fill(
    root,
    make(
      "div",
      { class: "unlock" },
      make("h1", {}, "Archive"),
      make(
        "div",
        { class: "problem", role: "alert" },
        make("p", {}, "This browser cannot open the archive. It lacks:"),
        make("ul", {}, features.map((feature) => make("li", {}, feature)))
      )
    )
  )

const start = (root: HTMLElement): void => {
  const { address = "", organization = "", role = "", token = "", worker = "", workerIntegrity = "" } = root.dataset
  const makeClient = makeClients(worker, workerIntegrity)
  const notice = makeNotice()
  let client: Client | undefined
  let stop: (() => void) | undefined

  const lock = (said: string | null): void => {
    stop?.()
    client?.end()
    client = undefined
    notice.clear()
    show(said)
  }

  const show = (said: string | null): void => {
    const asking = askPassword(said, role, async (password) => {
      const opening = await makeClient(notice.wait)
      try {
        await opening.call("start", { address, token, organizationId: organization })
        await opening.call("unlock", { password })
      } catch (error) {
        opening.end()
        throw error
      }
      client = opening
      const ended = whenIdle(() => lock("The archive was locked: nobody used it for 15 minutes."))
      const close = openArchive(root, {
        call: async (name, ask) => {
          try {
            return await opening.call(name, ask)
          } catch (error) {
            if (error instanceof CallFailed && error.code === "session_ended") lock(error.message)
            throw error
          }
        },
        lock: () => lock("The archive is locked."),
        redacts: superadmins.includes(role)
      })
      stop = () => {
        ended()
        close()
      }
    })
    fill(root, asking.element)
    asking.focus()
  }
  // A page that the browser keeps, to go back to, keeps no text either.
  addEventListener("pagehide", () => lock(null))
  show(null)
}

if (root !== null) {
  const lacking = missing()
  if (lacking.length > 0) showMissing(root, lacking)
  else start(root)
}
