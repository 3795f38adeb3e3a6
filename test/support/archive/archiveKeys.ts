/** Organizations with an archive password. */
import { Redacted } from "effect"
import { act } from "../operator/operator.ts"
import { archivePassword } from "./archivePassword.ts"

/** Sets the archive password, as an operator does. */
export const setArchiveKey = (organization: string, { password = archivePassword, replace = false } = {}) =>
  act((requests) => requests.archive_key_set({ organization, password: Redacted.make(password), key: null, replace }))
