/// The messages that a device has not acknowledged, by message id, and their cost.
struct UnacknowledgedMessages: Sendable {
    typealias Entry = DeviceSession.InFlight

    /// Room for so many entries is kept when all are gone.
    private static let keptCapacity = 32

    private var entries: [UInt32: Entry] = [:]
    /// The sum of ``Message/cost``.
    private(set) var bytes = 0

    var count: Int { self.entries.count }
    var isEmpty: Bool { self.entries.isEmpty }

    /// In the order in which they were sent.
    var inOrder: [Entry] { self.entries.values.sorted { $0.id < $1.id } }

    /// The sequence numbers of all.
    var sequences: Set<Int64> { Set(self.entries.values.lazy.map(\.message.sequence)) }

    subscript(id: UInt32) -> Entry? { self.entries[id] }

    func filter(_ isWanted: (Entry) -> Bool) -> [Entry] { self.entries.values.filter(isWanted) }

    mutating func add(_ entry: Entry) {
        self.bytes += entry.message.cost
        self.entries[entry.id] = entry
    }

    mutating func remove(_ id: UInt32) -> Entry? {
        guard let entry = self.entries.removeValue(forKey: id) else { return nil }
        self.bytes -= entry.message.cost
        // What a burst took is given back.
        if self.entries.isEmpty, self.entries.capacity > Self.keptCapacity { self.entries = [:] }
        return entry
    }

    /// The store has it, and its owner waits for that from now on. The owner, if one has waited for the device.
    mutating func handOver(_ id: UInt32) -> StoreBatch.Waiter? {
        guard let waiter = self.entries[id]?.submission else { return nil }
        self.entries[id]?.submission = nil
        self.entries[id]?.isStored = true
        return waiter
    }
}
