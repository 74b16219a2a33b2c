package import PushTypes

/// Coalesces the messages of each conversation into at most one push per interval.
///
/// The first message is pushed immediately. Messages in the interval after it are combined into one push at the end of
/// the interval, which shows the newest. All times are by the steady clock.
package struct PushCoalescer: Hashable, Sendable {
    /// A conversation with a push in the current interval.
    private struct Conversation: Hashable {
        var due: Timestamp
        var waiting: ChatPush?
    }

    /// The key under which the messages of conversations beyond the maximum number are combined.
    private static let others = ""

    private let interval: Duration
    private let maximum: Int
    private var conversations: [String: Conversation] = [:]

    /// Creates a coalescer without messages.
    /// - Parameters:
    ///   - interval: The minimum time between two pushes of a conversation. Default 5 s.
    ///   - maximum: The maximum number of conversations that are tracked. All further conversations are treated as one.
    package init(interval: Duration = .seconds(5), maximum: Int = 64) {
        (self.interval, self.maximum) = (interval, max(1, maximum))
    }

    /// The next time at which ``takeDue(at:)`` must be called, or `nil` if no interval is running.
    package var nextDue: Timestamp? { self.conversations.isEmpty ? nil : self.conversations.values.map(\.due).min() }

    /// Adds a message to its conversation.
    /// - Returns: The push to send now, or `nil` if the message waits for the end of the interval.
    package mutating func add(_ message: ChatMessage, at now: Timestamp) -> ChatPush? {
        let isKnown = self.conversations[message.thread] != nil
        let name = isKnown || self.conversations.count < self.maximum ? message.thread : Self.others
        guard var conversation = self.conversations[name] else {
            self.conversations[name] = Conversation(due: now.advanced(by: self.interval))
            return ChatPush(message)
        }
        let count = conversation.waiting?.count ?? 0
        conversation.waiting = ChatPush(message, count: count < .max ? count + 1 : count)
        self.conversations[name] = conversation
        return nil
    }

    /// Removes and returns the waiting pushes of intervals that have ended.
    package mutating func takeDue(at now: Timestamp) -> [ChatPush] {
        var pushes: [(name: String, push: ChatPush)] = []
        for (name, conversation) in self.conversations where conversation.due <= now {
            if let push = conversation.waiting {
                pushes.append((name, push))
                self.conversations[name] = Conversation(due: now.advanced(by: self.interval))
            } else {
                self.conversations[name] = nil
            }
        }
        if self.conversations.isEmpty { self.conversations = [:] }
        return pushes.sorted { $0.name < $1.name }.map(\.push)
    }

    /// Drops the waiting messages of a conversation, because the user has seen them.
    package mutating func forget(_ conversation: String) {
        self.conversations[conversation.lowercased()]?.waiting = nil
    }

    /// Drops all waiting messages, and ends the intervals of all conversations.
    package mutating func forgetAll() { self.conversations = [:] }

    /// Removes and returns pushes for all waiting messages, when the session ends.
    package mutating func takeAll() -> [ChatPush] {
        defer { self.conversations = [:] }
        return self.conversations.sorted { $0.key < $1.key }.compactMap(\.value.waiting)
    }
}
