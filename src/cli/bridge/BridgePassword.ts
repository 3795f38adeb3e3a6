/** The archive password as the bridge's user gives it: never as an argument, which other processes can see. */
import { Effect, Option, Redacted, Schema } from "effect"
import * as fs from "node:fs"
import * as tty from "node:tty"

/** The password cannot be read from where it was said to be. */
export class PasswordUnread extends Schema.TaggedError<PasswordUnread>()("PasswordUnread", {
  message: Schema.String
}) {}

/** The first line of an open file descriptor. */
const fromDescriptor = (descriptor: number) =>
  Effect.try({
    try: () => Redacted.make(fs.readFileSync(descriptor, "utf8").split(/\r?\n/, 1)[0] ?? ""),
    catch: () => new PasswordUnread({ message: `Nothing can be read from the file descriptor ${descriptor}.` })
  })

const backspace = /[\b\u007f]/
const enter = /[\r\n]/
const giveUp = /[\u0003\u0004]/

/** Asks on the terminal, without an echo; standard input and output are the client's. */
const fromTerminal = Effect.callback<Redacted.Redacted, PasswordUnread>((resume) => {
  const fail = (message: string) => resume(Effect.fail(new PasswordUnread({ message })))
  let descriptor: number
  try {
    descriptor = fs.openSync(process.platform === "win32" ? "CON" : "/dev/tty", "r+")
  } catch {
    return fail("There is no terminal to ask for the archive password.")
  }
  const terminal = new tty.ReadStream(descriptor)
  let typed = ""
  const end = () => {
    terminal.setRawMode(false)
    terminal.destroy()
    fs.writeSync(process.stderr.fd, "\n")
  }
  fs.writeSync(process.stderr.fd, "Archive password: ")
  terminal.setRawMode(true)
  terminal.setEncoding("utf8").on("data", (text: string) => {
    for (const character of text) {
      if (giveUp.test(character)) {
        end()
        return fail("No archive password was given.")
      }
      if (enter.test(character)) {
        end()
        return resume(Effect.succeed(Redacted.make(typed)))
      }
      typed = backspace.test(character) ? [...typed].slice(0, -1).join("") : typed + character
    }
  })
  return Effect.sync(end)
})

/** The password, where there is one: that of the descriptor, of the terminal, or of the environment. */
export const archivePassword = (given: {
  readonly descriptor: Option.Option<number>
  readonly ask: boolean
  readonly environment: Option.Option<Redacted.Redacted>
}): Effect.Effect<Option.Option<Redacted.Redacted>, PasswordUnread> =>
  Option.isSome(given.descriptor)
    ? Effect.map(fromDescriptor(given.descriptor.value), Option.some)
    : given.ask
    ? Effect.map(fromTerminal, Option.some)
    : Effect.succeed(given.environment)
