/** The messenger of a process, and whether it may use it. */
import { Layer } from "effect"
import { layerMessenger, type MessengerOptions } from "../../layers/Console.ts"
import * as Simulated from "../../layers/messenger/simulated/Simulated.ts"
import { Ownership } from "../../ports/messenger/Ownership.ts"

/** No messenger; the simulated one is only used by seeds. */
export const none = Layer.mergeAll(Simulated.layerSeeded, Simulated.layerNone, Ownership.layerNever)

/** The simulated one. Workers on PostgreSQL share its accounts; a directory has one process anyway. */
export const simulated = (options: MessengerOptions) => layerMessenger(Simulated.layerSeeded, options)
