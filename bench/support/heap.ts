/** The memory of a process without what nothing refers to any more. */
import * as v8 from "node:v8"
import * as vm from "node:vm"

v8.setFlagsFromString("--expose-gc")
const once: () => void = vm.runInNewContext("gc")

/** Some of what nothing refers to goes with a second collection alone. */
export const collect = (): void => {
  once()
  once()
}

/** KiB that this process needs. */
export const held = (): number => {
  collect()
  const { external, heapUsed } = process.memoryUsage()
  return (heapUsed + external) / 1024
}
