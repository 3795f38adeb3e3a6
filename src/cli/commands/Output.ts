/** The output of commands: lines for people on a terminal, JSON for programs. */
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { dataDirectory } from "../settings/ServiceSettings.ts"

/** The flag that every command with an answer has. */
export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print the answer as JSON"),
  Flag.withDefault(false)
)

/** Examples in the help of a command: the words after the program, and what they are for. */
export const examples = (...pairs: ReadonlyArray<readonly [words: string, description: string]>) =>
  Command.withExamples(pairs.map(([words, description]) => ({ command: `security-console ${words}`, description })))

/** Prints an answer, as JSON or as text lines. */
export const print = (asJson: boolean, answer: unknown, lines: () => ReadonlyArray<string>) =>
  Console.log(asJson ? JSON.stringify(answer, null, 2) : lines().join("\n"))

/** A remark on an answer that a shell takes alone: a line on standard error, and none with `--json`. */
export const remark = (asJson: boolean, line: string) => asJson ? Effect.void : Console.error(line)

/** Rows in columns as wide as their widest cell, without characters that a terminal would obey. */
export const columns = (cells: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const rows = cells.map((row) => row.map((cell) => cell.replaceAll(/\p{Cc}/gu, " ")))
  const widths: Array<number> = []
  for (const row of rows) row.forEach((cell, index) => widths[index] = Math.max(widths[index] ?? 0, cell.length))
  return rows.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  ").trimEnd())
}

/** The width of output for people, in characters. */
const width = 80

const gap = 2
const least = 8

const cut = (text: string, room: number): string => text.length <= room ? text : `${text.slice(0, room - 1)}…`

/**
 * Rows under their headings, at most 80 characters wide: the widest column gives way first, but the first one, which is
 * what other commands take.
 */
export const table = (
  headings: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<string> => {
  const all = [headings, ...rows]
  const widths = headings.map((_, index) => Math.max(...all.map((row) => row[index]?.length ?? 0)))
  const over = () => widths.reduce((sum, each) => sum + each + gap, -gap) > width
  while (over()) {
    const widest = Math.max(...widths.slice(1))
    if (widest <= least) break
    widths[widths.lastIndexOf(widest)] = widest - 1
  }
  return columns(all.map((row) => row.map((cell, index) => cut(cell, widths[index] ?? 0))))
}

/** The day of a moment. */
export const day = (moment: Date | null, otherwise: string): string => moment?.toISOString().slice(0, 10) ?? otherwise

export const minute = (moment: Date | null, otherwise = ""): string =>
  moment === null ? otherwise : `${moment.toISOString().slice(0, 16).replace("T", " ")} UTC`

/** Shows progress on standard error, only on a terminal. */
export const progress = (text: string) =>
  Effect.sync(() => {
    if (process.stderr.isTTY) process.stderr.write(`\r${text}\u001b[K`)
  })

/** Clears what `progress` showed. */
export const progressDone = Effect.sync(() => {
  if (process.stderr.isTTY) process.stderr.write("\r\u001b[K")
})

/** True in a clone, which runs its sources. */
export const isClone = import.meta.url.endsWith(".ts")

/** The words that start this program: in a clone those of npm. */
export const program = isClone ? "npm run cli --" : "security-console"

/** A word as a shell takes it. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/** The flag of a data directory that is not the usual one. */
export const dataFlag = (directory: string | null): string =>
  directory === null || directory === dataDirectory ? "" : ` --data ${shellWord(directory)}`

/** The owner's password, and then a key, which a password that is set later would end. */
export const ownerCommands = (organization: string, owner: string, directory: string | null): string => {
  const flag = dataFlag(directory)
  return `  ${program} admins set-password ${organization} ${owner}${flag}
  ${program} keys create ${organization} ${owner} --label "First key" --scopes org:read,accounts:write${flag}`
}
