/** Archived data that cannot be opened, and secrets that open nothing. Operations answer them as failures of the API. */
import { Schema } from "effect"

/** Sealed data that did not open: it was changed, moved, sealed under another key, or is beyond a limit. */
export class ArchiveUnreadable extends Schema.TaggedError<ArchiveUnreadable>()("ArchiveUnreadable", {
  part: Schema.Literals(["wrap", "epoch", "frame", "vocabulary", "file key", "records"])
}) {
  override get message(): string {
    return `The ${this.part} of an archive does not open`
  }
}

/** The password or recovery code is not that of the archive key. */
export class WrongArchivePassword extends Schema.TaggedError<WrongArchivePassword>()("WrongArchivePassword", {}) {
  override get message(): string {
    return "The archive password is wrong"
  }
}

/** Records that take more columns than a frame may hold; nothing of them is stored. */
export class FrameTooLarge extends Schema.TaggedError<FrameTooLarge>()("FrameTooLarge", { bytes: Schema.Int }) {
  override get message(): string {
    return `Records of the archive take ${this.bytes} bytes, more than a frame holds`
  }
}
