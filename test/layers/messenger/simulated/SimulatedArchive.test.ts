import { TestClock } from "effect/testing"
import * as Simulated from "../../../../src/layers/messenger/simulated/Simulated.ts"
import { SimulatedPlatform } from "../../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { chatsContract } from "./chats.ts"
import { feedsContract } from "./feeds.ts"

const harness = {
  layer: Simulated.layerMemory,
  world: SimulatedPlatform,
  pass: TestClock.adjust
}

chatsContract("the simulated messenger", harness)
feedsContract("the simulated messenger", harness)
