/** The bridge's entry in the file where an assistant's client keeps its servers. */
import { fileURLToPath } from "node:url"
import { isClone } from "../commands/Output.ts"

/** The command and its first arguments: of the package, or of the clone that this module is in. */
const started: ReadonlyArray<string> = isClone
  ? ["npm", "run", "--silent", "--prefix", fileURLToPath(new URL("../../..", import.meta.url)), "cli", "--"]
  : ["security-console"]

/** A password is no argument, which other programs would see, and is not in this file. */
const passwordFile = "/path/to/a/file/with/the/archive/password"

export const entry = (url: string): string => {
  const [command, ...args] = started
  const server = {
    command,
    args: [...args, "bridge", "--url", url],
    env: { CONSOLE_ARCHIVE_PASSWORD_FILE: passwordFile }
  }
  return JSON.stringify({ mcpServers: { "security-console": server } }, null, 2)
}
