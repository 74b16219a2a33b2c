import Foundation
import PushTypes

/// A change that the next group writes.
enum StoreChange: Sendable {
    /// Stores a message in flight to its device, beside all others.
    case put(Message)
    /// Stores a message in place of the older ones of its topic, apart from those in flight, which have these sequence
    /// numbers.
    case putNewest(Message, keeping: Set<Int64>)
    /// Removes, of each topic of a device that is offline now, all messages but the newest.
    case keepNewest(UUID)
    case remove(Message)
    /// Removes the older messages of this one's topic, apart from those with these sequence numbers.
    case removeOlder(Message, keeping: Set<Int64>)
    /// Removes the messages of an app that is gone; of all apps and the subscriptions too if `topic` is `nil`.
    case discard(device: UUID, topic: Topic?)
    case putBroadcast(ChannelBroadcast)
    case advance(device: UUID, channel: ChannelName, sequence: Int64)
    case subscribe(device: UUID, channel: ChannelName, limit: Int)
    case unsubscribe(device: UUID, channel: ChannelName)
    case removeChannel(ChannelName)
    /// Removes what has expired.
    case purge
}

/// A read for a session, after the changes before it.
struct StoreLoad: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        /// The messages that are stored for the device; the first read after a filter also returns its subscriptions.
        case messages(isFirst: Bool)
        case channel(ChannelName)
    }

    var session: DeviceSession.ID
    var part: Part
    /// Indicates whether the device is woken for messages that were held.
    var isWindow = false
}

/// The result of a ``StoreLoad``.
struct LoadedMessages: Sendable {
    var load: StoreLoad
    var messages: [Message] = []
    var subscriptions: [ChannelName] = []
}

/// The changes and reads of one group, and the pushes that are accepted when it is committed.
struct StoreBatch: Sendable {
    /// The result of a committed group.
    struct Outcome: Sendable {
        var events: [Event] = []
        var loaded: [LoadedMessages] = []
    }

    var changes: [StoreChange] = []
    var loads: [StoreLoad] = []
    var submissions: [PendingSubmission] = []

    var isEmpty: Bool { self.changes.isEmpty && self.loads.isEmpty && self.submissions.isEmpty }
}
