/// The messages that a device has not acknowledged, by message id, and their cost.
struct UnacknowledgedMessages: Sendable {
    typealias Entry = DeviceSession.InFlight

    /// The capacity that is kept when all entries are gone.
    private static let keptCapacity = 32

    private var entries: [UInt32: Entry] = [:]
    /// The sum of ``Message/cost``.
    private(set) var bytes = 0

    var count: Int { self.entries.count }
    var isEmpty: Bool { self.entries.isEmpty }

    /// The entries in the order in which they were sent.
    var inOrder: [Entry] { self.entries.values.sorted { $0.id < $1.id } }

    /// The sequence numbers of all messages.
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

    /// Marks a message as stored, so that its push waits for the store and not for the device.
    /// - Returns: The push; `nil` if none waits.
    mutating func markStored(_ id: UInt32) -> PendingSubmission? {
        guard let submission = self.entries[id]?.submission else { return nil }
        self.entries[id]?.submission = nil
        self.entries[id]?.isStored = true
        return submission
    }
}
