import PushTypes
import PushWire

/// The reads of the store for one session that have not returned, and the events since they began that their results do
/// not know of.
struct PendingLoads: Sendable {
    /// The reads that have not returned.
    private(set) var count = 0
    /// Indicates whether one of them is of the device's messages.
    private var isLoadingMessages = false
    /// The read of messages to begin when that one has returned.
    private var next: StoreLoad?
    private var acknowledged: Set<Int64> = []
    private var unfollowed: Set<ChannelName> = []
    /// Per topic, the newest message that was received.
    private var newest: [TopicHash: Int64] = [:]

    /// A read is wanted. However often a device asks, its messages are read once at a time, and once more after that.
    /// - Returns: Whether to read now.
    mutating func begin(_ load: StoreLoad) -> Bool {
        if case .messages(let isFirst) = load.part {
            guard !self.isLoadingMessages else {
                var next = load
                next.part = .messages(isFirst: isFirst || self.next?.part == .messages(isFirst: true))
                next.isWindow = load.isWindow || self.next?.isWindow ?? false
                self.next = next
                return false
            }
            self.isLoadingMessages = true
        }
        self.count += 1
        return true
    }

    /// A read has returned.
    /// - Returns: The read that was wanted meanwhile, which has begun now; `nil` for none.
    mutating func end(_ load: StoreLoad) -> StoreLoad? {
        self.count -= 1
        if case .messages = load.part {
            self.isLoadingMessages = false
            if let next = self.next {
                self.next = nil
                _ = self.begin(next)
                return next
            }
        }
        if self.count == 0 { self = PendingLoads() }
        return nil
    }

    mutating func received(_ message: Message) {
        if self.count > 0 { self.newest[message.topicHash] = message.sequence }
    }

    mutating func acknowledged(_ message: Message) { if self.count > 0 { self.acknowledged.insert(message.sequence) } }

    mutating func followed(_ channel: ChannelName) { self.unfollowed.remove(channel) }

    /// A channel is not followed any more.
    /// - Parameter limit: The most channels to remember.
    /// - Returns: Whether it is remembered; `nil` if nothing is being read.
    mutating func unfollowed(_ channel: ChannelName, limit: Int) -> Bool? {
        guard self.count > 0 else { return nil }
        guard self.unfollowed.count < limit else { return false }
        self.unfollowed.insert(channel)
        return true
    }

    func hasAcknowledged(_ message: Message) -> Bool { self.acknowledged.contains(message.sequence) }

    func hasUnfollowed(_ channel: ChannelName) -> Bool { self.unfollowed.contains(channel) }

    func hasReceivedNewer(than message: Message) -> Bool {
        self.newest[message.topicHash].map { $0 > message.sequence } ?? false
    }
}
