import Foundation
import PushTypes
import PushWire

/// The connection of a device as the router uses it.
protocol DeviceConnection: AnyObject, Sendable {
    /// Sends packets in the order of the calls. Called on any thread; never blocks.
    func send(_ packets: [DevicePacket])
    func close()
}

/// A packet for a device.
enum DevicePacket: Sendable {
    case message(Message, id: UInt32)
    /// Nothing was stored for these topics while the device was offline.
    case nothingStored([TopicHash])
}

/// The state of a connected device: its filter, and the messages that it has not acknowledged.
struct DeviceSession: Sendable {
    /// The identity of a session.
    struct ID: Hashable, Sendable {
        let device: UUID
        /// The number that tells the session from the device's earlier ones.
        let number: UInt64
    }

    /// The way in which a device wants the notifications of a topic (device link reference 3, command 9).
    enum Interest: Hashable, Sendable {
        case enabled
        /// While the device is in use.
        case opportunistic
        /// While the device is in use; the device is never woken.
        case nonWaking
        /// Not until the device sends another filter.
        case paused
        /// Not at all.
        case ignored
    }

    /// A message that was sent and is not acknowledged.
    struct InFlight: Sendable {
        var id: UInt32
        var message: Message
        var isFromStorage: Bool
        /// The push that waits for the acknowledgement; `nil` once it is settled or waits for the store.
        var submission: PendingSubmission?
        /// Indicates whether the message is stored, or will be with the next group.
        var isStored: Bool
        /// The window in which it was sent (``AcknowledgementWindows/current``).
        var window: Int

        /// Returns whether the message belongs to a topic; every message belongs to `nil`.
        func isFor(_ topic: TopicHash?) -> Bool { topic.map { $0 == self.message.topicHash } ?? true }
    }

    let id: ID
    private(set) var topics: [(hash: TopicHash, interest: Interest)] = []
    var channels: Set<ChannelName> = []
    /// Indicates whether the device is in use.
    var isActive = true
    var unacknowledged = UnacknowledgedMessages()
    /// The last window to which the session was added (``AcknowledgementWindows/add(_:last:)``).
    var lastWindow: Int?
    /// The time of the last acknowledgement, or of the first message that is not acknowledged.
    var progressedAt = Timestamp(milliseconds: .min)
    var loads = PendingLoads()
    /// Indicates whether the store has messages that wait for power, for use of the device, or for another filter.
    var hasHeld = false
    /// Indicates whether the store has messages that wait for acknowledgements.
    var hasBacklog = false
    /// The time at which a device that is not in use is woken for power-aware notifications.
    var nextWindow = Timestamp(milliseconds: .max)
    /// The times at which background notifications were delivered within the last hour, per topic.
    private(set) var background: [TopicHash: [Timestamp]] = [:]
    private var nextMessageID: UInt32 = 1

    init(_ id: ID) { self.id = id }

    var device: UUID { self.id.device }

    func interest(in topic: TopicHash) -> Interest? { self.topics.first { $0.hash == topic }?.interest }

    mutating func setFilter(_ filter: DeviceLinkFilter) {
        // A topic in several lists counts for the one that asks for least, which comes first.
        let lists: [([TopicHash], Interest)] = [
            (filter.ignored, .ignored), (filter.paused, .paused), (filter.nonWaking, .nonWaking),
            (filter.opportunistic, .opportunistic), (filter.enabled, .enabled),
        ]
        var seen: Set<TopicHash> = []
        self.topics = lists.flatMap { hashes, interest in
            hashes.filter { seen.insert($0).inserted }.map { ($0, interest) }
        }
    }

    mutating func removeTopic(_ topic: TopicHash) { self.topics.removeAll { $0.hash == topic } }

    mutating func takeMessageID() -> UInt32 {
        defer { self.nextMessageID = self.nextMessageID == .max ? 1 : self.nextMessageID + 1 }
        return self.nextMessageID
    }

    mutating func recordBackground(_ topic: TopicHash, now: Timestamp) {
        let lastHour = self.background[topic, default: []].filter { now.since($0) < .seconds(3600) }
        self.background[topic] = lastHour + [now]
    }
}
