import { change, type MutantsByFile } from "../mutant.ts"

export const wire: MutantsByFile = {
  "src/layers/postgres/protocol/Cycle.ts": [
    change({ in: "answering", replace: " - this.statements.length + this.asked.length", by: "" })
      .loses("a request is given the answer to another")
      .seenBy("test/layers/postgres/serverSession.test.ts"),
    change({ in: "repeat", replace: "for (const asked of this.asked) asked.rows = []", by: "" })
      .loses("what is sent once more answers the rows of both times")
      .seenBy("test/layers/postgres/serverSession.test.ts")
  ],
  "src/layers/postgres/protocol/ServerSession.ts": [
    change({ in: "#onMessage", replace: " || (cycle.failure === undefined && sent !== undefined)", by: "" })
      .loses("an answer that ends too early is taken for whole")
      .seenBy("test/layers/postgres/serverSession.test.ts"),
    change({ in: "#ready", replace: "cycle.repeatable && ", by: "" })
      .loses("what may have happened is sent once more, again and again")
      .seenBy("test/layers/postgres/serverSession.test.ts"),
    change({ in: "#abandon", replace: " && this.#owed[0] === cycle", by: "" })
      .loses("a statement is cancelled because one behind it was given up")
      .seenBy("test/layers/postgres/serverSession.test.ts"),
    change({ in: "isFree", replace: " && this.#cancelling === 0", by: "" })
      .loses("a cancellation on its way meets the next one's statement")
      .seenBy("test/layers/postgres/serverSession.test.ts")
  ],
  "src/layers/postgres/protocol/PreparedStatements.ts": [
    change({ in: "forget", replace: "messages.push(close(prepared))", by: "" })
      .loses("the server keeps every statement that has failed")
      .seenBy("test/layers/postgres/serverSession.test.ts"),
    change({
      in: "unlearn",
      replace: "for (const { parsed, prepared } of sent) if (parsed && prepared.name !== \"\") this.#drop(prepared)",
      by: "void sent"
    })
      .loses("a session takes a statement for known that it has never sent")
      .seenBy("test/layers/postgres/serverSession.test.ts"),
    change({ in: "stale", replace: " || code === \"0A000\"", by: "" })
      .loses("a statement whose table has changed fails for as long as the session lives")
      .seenBy("test/layers/postgres/serverSession.test.ts")
  ],
  "src/layers/postgres/protocol/SharedSession.ts": [
    change({ in: "load", replace: " + (this.session.isDoubtful ? 1000 : 0)", by: "" })
      .loses("statements queue behind one that nobody waits for")
      .seenBy("test/layers/postgres/serverSession.test.ts")
  ],
  "src/layers/postgres/protocol/BinaryValues.ts": [
    change({ in: "timestamp", replace: "trunc", by: "round" })
      .loses("an instant is read as up to half a millisecond later than it is")
      .seenBy("test/layers/postgres/binaryValues.test.ts")
  ]
}
