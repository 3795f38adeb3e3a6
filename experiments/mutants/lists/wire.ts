import type { Mutant } from "../list.ts"

export const wire: ReadonlyArray<Mutant> = [
  {
    file: "src/layers/sql/wire/Cycle.ts",
    line: "return this.asked[this.at - this.statements.length + this.asked.length]",
    becomes: "return this.asked[this.at]",
    why: "a request is given the answer to another",
    tests: ["test/layers/sql/wireSession.test.ts"]
  },
  {
    file: "src/layers/sql/wire/Cycle.ts",
    line: "for (const asked of this.asked) asked.rows = []",
    becomes: "",
    why: "what is sent once more answers the rows of both times",
    tests: ["test/layers/sql/wireSession.test.ts"]
  },
  {
    file: "src/layers/sql/wire/Session.ts",
    line: "if (cycle === undefined || (cycle.failure === undefined && sent !== undefined)) break",
    becomes: "if (cycle === undefined) break",
    why: "an answer that ends too early is taken for whole",
    tests: ["test/layers/sql/wireSession.test.ts"]
  },
  {
    file: "src/layers/sql/wire/Session.ts",
    line: "if (cycle.repeatable && isAwaited && status === \"I\" && this.#isNoFault(cycle)) {",
    becomes: "if (isAwaited && status === \"I\" && this.#isNoFault(cycle)) {",
    why: "what may have happened is sent once more, again and again",
    tests: ["test/layers/sql/wireSession.test.ts"]
  },
  {
    file: "src/layers/sql/wire/Session.ts",
    line: "if (!cycle.isAwaited && this.#owed[0] === cycle) this.#leave()",
    becomes: "if (!cycle.isAwaited) this.#leave()",
    why: "a statement is cancelled because one behind it was given up",
    tests: ["test/layers/sql/wireSession.test.ts"]
  },
  {
    file: "src/layers/sql/wire/Session.ts",
    line:
      "return this.#lost === undefined && this.outstanding === 0 && this.#status === \"I\" && this.#cancelling === 0",
    becomes: "return this.#lost === undefined && this.outstanding === 0 && this.#status === \"I\"",
    why: "a cancellation on its way meets the next one's statement",
    tests: ["test/layers/sql/wireSession.test.ts"]
  },
  {
    file: "src/layers/sql/wire/PreparedStatements.ts",
    line: "messages.push(close(prepared))",
    becomes: "",
    why: "the server keeps every statement that has failed",
    tests: ["test/layers/sql/wireSession.test.ts"]
  },
  {
    file: "src/layers/sql/wire/PreparedStatements.ts",
    line: "for (const { parsed, prepared } of sent) if (parsed && prepared.name !== \"\") this.#drop(prepared)",
    becomes: "void sent",
    why: "a session takes a statement for known that it has never sent",
    tests: ["test/layers/sql/wireSession.test.ts"]
  },
  {
    file: "src/layers/sql/wire/PreparedStatements.ts",
    line: "const stale = code === \"26000\" || code === \"0A000\"",
    becomes: "const stale = code === \"26000\"",
    why: "a statement whose table has changed fails for as long as the session lives",
    tests: ["test/layers/sql/wireSession.test.ts"]
  },
  {
    file: "src/layers/sql/wire/Shared.ts",
    line: "return this.session.outstanding + (this.session.isDoubtful ? 1000 : 0)",
    becomes: "return this.session.outstanding",
    why: "statements queue behind one that nobody waits for",
    tests: ["test/layers/sql/wireSession.test.ts"]
  },
  {
    file: "src/layers/sql/wire/Values.ts",
    line: "? new Date(Math.trunc((high * 0x1_0000_0000 + low) / 1000) + epochMillis)",
    becomes: "? new Date(Math.round((high * 0x1_0000_0000 + low) / 1000) + epochMillis)",
    why: "an instant is read as up to half a millisecond later than it is",
    tests: ["test/layers/sql/wireValues.test.ts"]
  }
]
