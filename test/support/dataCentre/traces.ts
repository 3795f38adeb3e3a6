/** Requests by which a client shows itself, or marks something as read or seen. */
export const traces = [
  "messages.readHistory",
  "channels.readHistory",
  "messages.readMessageContents",
  "channels.readMessageContents",
  "messages.readDiscussion",
  "messages.readMentions",
  "messages.readReactions",
  "messages.getMessagesViews",
  "messages.setTyping",
  "account.updateStatus"
]
