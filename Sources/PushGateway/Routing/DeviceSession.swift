import Foundation
import PushTypes
import PushWire

protocol DeviceConnection: AnyObject, Sendable {
    /// Sends packets in the order of the calls. This method may be called on any thread, and never blocks.
    func send(_ packets: [DevicePacket])
    func close()
}

enum DevicePacket: Sendable {
    case message(Message, id: UInt32)
    /// A packet that informs the device that nothing was stored for these topics while it was offline.
    case nothingStored([TopicHash])
}

/// The state of a connected device: the device's filter, and the messages that it has not acknowledged.
struct DeviceSession: Sendable {
    struct ID: Hashable, Sendable {
        let device: UUID
        let number: UInt64
    }

    /// The interest of a device in the notifications of a topic (device link reference 3, command 9).
    enum Interest: Hashable, Sendable {
        case enabled
        /// The interest by which notifications are delivered while the device is in use.
        case opportunistic
        /// The interest by which notifications are delivered while the device is in use, without ever waking it.
        case nonWaking
        /// The interest by which notifications are held until the device sends another filter.
        case paused
        /// The interest by which notifications are discarded.
        case ignored
    }

    /// A message that was sent and is not acknowledged.
    struct InFlight: Sendable {
        var id: UInt32
        var message: Message
        var isFromStorage: Bool
        /// The push whose result depends on the acknowledgement, or `nil` once the result is sent or waits for the
        /// store.
        var submission: PendingSubmission?
        /// A Boolean value that indicates whether the message is stored, or is in the next ``StoreBatch``.
        var isStored: Bool
        /// The number of the window (``AcknowledgementWindows/current``) in which the message was sent.
        var window: Int

        /// Returns whether the message has this topic. A topic of `nil` stands for all topics.
        func isFor(_ topic: TopicHash?) -> Bool { topic.map { $0 == self.message.topicHash } ?? true }
    }

    let id: ID
    private(set) var topics: [(hash: TopicHash, interest: Interest)] = []
    var channels: Set<ChannelName> = []
    /// A Boolean value that indicates whether the device is in use.
    var isActive = true
    var unacknowledged = UnacknowledgedMessages()
    /// The number of the last window (``AcknowledgementWindows``) to which the device was added, or `nil` for none.
    var lastWindow: Int?
    /// The time of the last acknowledgement, or of the first unacknowledged message if that is later. A device that
    /// makes no progress for too long is disconnected.
    var progressedAt = Timestamp(milliseconds: .min)
    var loads = PendingLoads()
    /// A Boolean value that indicates whether stored messages wait until the device is woken, is used, or sends another
    /// filter.
    var hasHeld = false
    /// A Boolean value that indicates whether stored messages wait until the device has acknowledged earlier ones.
    var hasBacklog = false
    /// The time at which a device that is not in use is woken next for power-aware notifications.
    var nextWindow = Timestamp(milliseconds: .max)
    /// The times within the last hour at which background notifications were delivered, by topic, to enforce
    /// ``PowerRules/backgroundPerHour``.
    private(set) var background: [TopicHash: [Timestamp]] = [:]
    private var nextMessageID: UInt32 = 1

    init(_ id: ID) { self.id = id }

    var device: UUID { self.id.device }

    func interest(in topic: TopicHash) -> Interest? { self.topics.first { $0.hash == topic }?.interest }

    mutating func setFilter(_ filter: DeviceLinkFilter) {
        // For a topic in several lists the one with the least interest counts, which is the first here.
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

/// The unacknowledged messages of a device, by message id, and their total cost.
struct UnacknowledgedMessages: Sendable {
    typealias Entry = DeviceSession.InFlight

    /// The maximum capacity, in entries, that is kept when the last entry is removed. The memory of a larger table is
    /// freed.
    private static let keptCapacity = 32

    private var entries: [UInt32: Entry] = [:]
    /// The sum of ``Message/cost`` of all entries.
    private(set) var bytes = 0

    var count: Int { self.entries.count }
    var isEmpty: Bool { self.entries.isEmpty }

    var inOrder: [Entry] { self.entries.values.sorted { $0.id < $1.id } }

    var sequences: Set<Int64> { Set(self.entries.values.lazy.map(\.message.sequence)) }

    subscript(id: UInt32) -> Entry? { self.entries[id] }

    func filter(_ isIncluded: (Entry) -> Bool) -> [Entry] { self.entries.values.filter(isIncluded) }

    mutating func add(_ entry: Entry) {
        self.bytes += entry.message.cost
        self.entries[entry.id] = entry
    }

    mutating func remove(_ id: UInt32) -> Entry? {
        guard let entry = self.entries.removeValue(forKey: id) else { return nil }
        self.bytes -= entry.message.cost
        // The memory of a burst is released.
        if self.entries.isEmpty, self.entries.capacity > Self.keptCapacity { self.entries = [:] }
        return entry
    }

    /// Marks a message as stored, so that its push is accepted once the store has it, without an acknowledgement.
    /// - Returns: The push whose result is outstanding, or `nil` if there is none.
    mutating func markStored(_ id: UInt32) -> PendingSubmission? {
        guard let submission = self.entries[id]?.submission else { return nil }
        self.entries[id]?.submission = nil
        self.entries[id]?.isStored = true
        return submission
    }
}

/// The unfinished reads of the store for one session, and the events since they began, which the results do not
/// reflect.
struct PendingLoads: Sendable {
    private(set) var count = 0
    private var isLoadingMessages = false
    /// The next read of the device's messages, which begins when the current one has finished, or `nil` if there is
    /// none.
    private var next: StoreLoad?
    private var acknowledged: Set<Int64> = []
    private var unfollowed: Set<ChannelName> = []
    /// The sequence number of the newest message that was received during the reads, by topic.
    private var newest: [TopicHash: Int64] = [:]

    /// Begins a read. If the device's messages are being read already, one further read follows, however often it is
    /// requested.
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

    /// Removes a finished read.
    /// - Returns: The read that was requested meanwhile and begins now, or `nil` if there is none.
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

    /// Records that the device stopped following a channel, so that an unfinished read does not restore it.
    /// - Parameter limit: The maximum number of channels to remember.
    /// - Returns: Whether the channel is remembered, or `nil` if no read is unfinished.
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
