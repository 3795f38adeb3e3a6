/** What a run needs, made at once. */
import type { TestProject } from "vitest/node"
import databases from "../postgres/databaseSetup.ts"
import program from "./programSetup.ts"

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const made = await Promise.allSettled([databases(project), program(project)])
  const remove = async () => {
    for (const each of made) if (each.status === "fulfilled") await each.value()
  }
  for (const each of made) {
    if (each.status === "fulfilled") continue
    await remove()
    throw each.reason
  }
  return remove
}
