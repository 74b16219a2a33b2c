import PushTypes

/// Coalesces the publishes for a node within an interval into one push.
///
/// The first publish is sent immediately. If others follow within the interval, one of them is sent at its end, so that
/// the app is woken for the last of them too. An important publish does not wait for the end of an interval that an
/// unimportant one began.
struct PublishCoalescer {
    static let interval = Duration.seconds(20)
    /// The maximum number of nodes that are remembered. Publishes for further nodes are sent immediately.
    static let maximumNodes = 100_000

    enum Decision: Hashable, Sendable {
        /// Sends the publish at this time by the steady clock, which may be now.
        case send(at: Timestamp)
        /// Sends nothing, because a push that is already scheduled covers the publish.
        case covered
    }

    private struct Entry: Hashable {
        /// The time of the last push, which may be scheduled for the future.
        var sentAt: Timestamp
        var isImportant: Bool
    }

    private var entries: [String: Entry] = [:]
    /// The time at which expired entries were last removed, or `nil` if they never were.
    private var cleanedAt: Timestamp?

    /// Decides whether and when a publish is sent. `now` is the current time by the steady clock.
    mutating func decide(_ node: String, isImportant: Bool, now: Timestamp) -> Decision {
        self.clean(now: now)
        guard let entry = self.entries[node], now < entry.sentAt.advanced(by: Self.interval) else {
            return self.send(node, at: now, isImportant)
        }
        let isHigher = isImportant && !entry.isImportant
        guard entry.sentAt <= now else { return isHigher ? self.send(node, at: entry.sentAt, true) : .covered }
        return self.send(node, at: isHigher ? now : entry.sentAt.advanced(by: Self.interval), isImportant)
    }

    /// Forgets a node whose push could not be created, so that its next publish is sent immediately.
    mutating func forget(_ node: String) { self.entries[node] = nil }

    private mutating func send(_ node: String, at time: Timestamp, _ isImportant: Bool) -> Decision {
        if self.entries[node] != nil || self.entries.count < Self.maximumNodes {
            self.entries[node] = Entry(sentAt: time, isImportant: isImportant)
        }
        return .send(at: time)
    }

    private mutating func clean(now: Timestamp) {
        guard let cleanedAt, now < cleanedAt.advanced(by: Self.interval) else {
            self.entries = self.entries.filter { now < $0.value.sentAt.advanced(by: Self.interval) }
            self.cleanedAt = now
            return
        }
    }
}
