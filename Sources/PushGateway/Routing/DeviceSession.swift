import Foundation
import PushTypes
import PushWire

/// How the core reaches a connected device.
protocol DeviceConnection: AnyObject, Sendable {
    /// Called on any thread; never blocks. Sends in the order of the calls.
    func send(_ packets: [DevicePacket])
    func close()
}

/// What the core sends to a device.
enum DevicePacket: Sendable {
    case message(Message, id: UInt32)
    /// Nothing was kept for these topics while the device was away.
    case nothingStored([TopicHash])
}

/// What a device that is connected wants, and what it has not acknowledged yet.
struct DeviceSession: Sendable {
    typealias ID = UInt64

    /// How a device wants the notifications of a topic (courier reference, command 9).
    enum Interest: Hashable, Sendable {
        case enabled
        /// When the device is in use anyway.
        case opportunistic
        /// Never to wake the device.
        case nonWaking
        /// Not until it says so.
        case paused
        /// Not at all.
        case ignored
    }

    struct InFlight: Sendable {
        var id: UInt32
        var message: Message
        var isFromStorage: Bool
        /// Who waits for its acknowledgement; `nil` once it was answered or is with the store.
        var submission: StoreBatch.Waiter?
        /// Whether the store has it, or will have it with the next group.
        var isStored: Bool
        /// The machine's window in which it was sent.
        var window: Int

        /// Whether it is for this topic; every one is for `nil`.
        func isFor(_ topic: TopicHash?) -> Bool { topic.map { $0 == self.message.topicHash } ?? true }
    }

    let device: UUID
    let id: ID
    let link: any DeviceConnection
    private(set) var topics: [(hash: TopicHash, interest: Interest)] = []
    var channels: Set<ChannelName> = []
    var isActive = true
    var unacknowledged = UnacknowledgedMessages()
    var nextMessageID: UInt32 = 1
    /// The last of the machine's windows in which the session is looked at for what waits too long.
    var notedWindow: Int?
    /// The moment of the last acknowledgement, or of the first message that is not acknowledged.
    var progressedAt = Timestamp(milliseconds: .min)
    /// Reads of the store for this session that have not come back.
    var loads = 0
    /// Whether one of them is of the device's messages, and what to read once more after it.
    var isLoadingMessages = false
    var loadsAgain: StoreLoad?
    /// Acknowledged while the store is being read: what it still brings of them the device has.
    var acknowledgedMeanwhile: Set<Int64> = []
    /// No longer followed, while the store is being read.
    var unfollowed: Set<ChannelName> = []
    /// Per topic, the newest message that came while the store is being read.
    var newest: [TopicHash: Int64] = [:]
    /// The store holds something that waits for power, for use of the device, or for its wish.
    var hasHeld = false
    /// The store holds something that waits for acknowledgements.
    var hasBacklog = false
    /// While the device is not in use: when it may be woken for power-aware notifications.
    var nextWindow = Timestamp(milliseconds: .max)
    /// When background notifications were delivered, per topic, within the last hour.
    var background: [TopicHash: [Timestamp]] = [:]

    init(_ device: UUID, id: ID, link: any DeviceConnection) {
        self.device = device
        self.id = id
        self.link = link
    }

    var isLoading: Bool { self.loads > 0 }

    func interest(in topic: TopicHash) -> Interest? { self.topics.first { $0.hash == topic }?.interest }

    mutating func take(_ filter: DeviceLinkFilter) {
        // A topic in several lists: the one that asks for least counts, and comes first.
        let lists: [([TopicHash], Interest)] = [
            (filter.ignored, .ignored), (filter.paused, .paused), (filter.nonWaking, .nonWaking),
            (filter.opportunistic, .opportunistic), (filter.enabled, .enabled),
        ]
        var seen: Set<TopicHash> = []
        self.topics = lists.flatMap { hashes, interest in
            hashes.filter { seen.insert($0).inserted }.map { ($0, interest) }
        }
    }

    mutating func forget(_ topic: TopicHash) { self.topics.removeAll { $0.hash == topic } }

    mutating func noteBackground(_ topic: TopicHash, now: Timestamp) {
        let lastHour = self.background[topic, default: []].filter { now.since($0) < .seconds(3600) }
        self.background[topic] = lastHour + [now]
    }
}
