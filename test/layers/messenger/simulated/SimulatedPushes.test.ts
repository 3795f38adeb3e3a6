import { assert, describe, it } from "@effect/vitest"
import { MessengerEvent, MessengerUserId, SessionRef } from "../../../../src/domain/messenger/Messenger.ts"
import * as SimulatedPushes from "../../../../src/layers/messenger/simulated/SimulatedPushes.ts"

const userId = MessengerUserId.make("1")
const sessionRef = SessionRef.make("one")
const codeSent = MessengerEvent.make({ _tag: "CodeSent" })
const profileChanged = MessengerEvent.make({ _tag: "ProfileChanged" })

const listening = () => {
  const pushes = SimulatedPushes.make()
  const heard: Array<string> = []
  const stop = pushes.listen(sessionRef, ({ _tag }) => void heard.push(_tag))
  return { pushes, heard, stop }
}

describe("pushes of the simulated platform", () => {
  it("are sent in the order in which the changes were begun, whichever is kept first", () => {
    const { heard, pushes } = listening()
    const [one, two, three] = [pushes.begin(), pushes.begin(), pushes.begin()]
    one.add(userId, sessionRef, codeSent)
    two.add(userId, sessionRef, profileChanged)
    three.add(userId, sessionRef, codeSent)
    two.finish(true)
    assert.deepStrictEqual(heard, [])
    one.finish(true)
    assert.deepStrictEqual(heard, ["CodeSent", "ProfileChanged"])
    three.finish(true)
    assert.deepStrictEqual(heard, ["CodeSent", "ProfileChanged", "CodeSent"])
  })

  it("are not sent for a change that was not kept, which delays no other", () => {
    const { heard, pushes } = listening()
    const [one, two] = [pushes.begin(), pushes.begin()]
    one.add(userId, sessionRef, codeSent)
    two.add(userId, sessionRef, profileChanged)
    two.finish(true)
    one.finish(false)
    assert.deepStrictEqual(heard, ["ProfileChanged"])
  })

  it("reaches who listens to the session, until they stop", () => {
    const { heard, pushes, stop } = listening()
    const push = (to: SessionRef) => {
      const batch = pushes.begin()
      batch.add(userId, to, codeSent)
      batch.finish(true)
    }
    push(SessionRef.make("two"))
    push(sessionRef)
    stop()
    push(sessionRef)
    assert.deepStrictEqual(heard, ["CodeSent"])
  })
})
