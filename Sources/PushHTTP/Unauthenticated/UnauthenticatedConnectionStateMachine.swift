package import NIOCore

/// Decides which unauthenticated connections have to be closed, so that all of them together stay within a budget.
///
/// It is a value without I/O, and time is passed in. A connection that is authenticated or closed is removed by
/// ``close(_:)``.
package struct UnauthenticatedConnectionStateMachine: Sendable {
    package typealias ID = UInt64

    package struct Limits: Hashable, Sendable {
        /// The maximum number of bytes that all connections together retain. Beyond it, the connection that retains the
        /// most is closed. Default 8 MiB.
        package var bytes = 8 << 20
        /// The maximum number of connections. To admit another, an old one is closed. If none is old enough, the new
        /// one is rejected. Default 4,096.
        package var connections = 4096
        /// The maximum time from accepting a connection to its authentication. Default 60 s.
        package var deadline: TimeAmount = .seconds(60)
        /// The age below which a connection is not closed in favour of a new one. Default 2 s, within which honest
        /// clients authenticate.
        package var minimumAge: TimeAmount = .seconds(2)
        /// The age below which a connection that has sent no message is not closed in favour of a new one. Default 0.5
        /// s, because an honest client sends a message immediately.
        package var minimumSilentAge: TimeAmount = .milliseconds(500)

        package init() {}
    }

    /// The reason why an unauthenticated connection is closed.
    package enum Cause: String, Hashable, Sendable {
        case deadline = "no valid credential in time"
        case bytes = "unauthenticated connections hold too much memory, and this one the most"
        case connections = "too many unauthenticated connections"
    }

    private struct Entry {
        let opened: NIODeadline
        var bytes = 0
        var isSilent = true
    }

    package let limits: Limits
    private var entries: [ID: Entry] = [:]
    /// The ids of the connections by age. The id of a removed connection stays until it is reached or cleaned up.
    private var order = CircularBuffer<ID>()
    /// The ids of the connections without a first message, by age. The id of a connection that has sent one stays until
    /// it is reached or cleaned up.
    private var silent = CircularBuffer<ID>()
    private var lastID: ID = 0
    /// The number of bytes that all connections together retain.
    package private(set) var bytes = 0

    package init(limits: Limits) { self.limits = limits }

    package var count: Int { self.entries.count }

    /// Admits an accepted connection.
    /// - Returns: The id of the connection, or `nil` if it is rejected, and the connection to close in favour of it, or
    ///   `nil` if none has to be closed.
    package mutating func open(now: NIODeadline) -> (id: ID?, closes: ID?) {
        var closes: ID?
        if self.entries.count >= max(1, self.limits.connections) {
            guard let victim = self.victim(now: now) else { return (nil, nil) }
            closes = victim
            self.close(victim)
        }
        self.lastID += 1
        self.entries[self.lastID] = Entry(opened: now)
        self.order.append(self.lastID)
        self.silent.append(self.lastID)
        return (self.lastID, closes)
    }

    package mutating func firstMessageReceived(_ id: ID) { self.entries[id]?.isSilent = false }

    /// Returns the connection to close in favour of a new one: the oldest one without a first message, or else the
    /// oldest one. Returns `nil` if neither has its minimum age.
    private mutating func victim(now: NIODeadline) -> ID? {
        while let id = self.silent.first, self.entries[id]?.isSilent != true { self.silent.removeFirst() }
        if let id = self.silent.first, let entry = self.entries[id], now >= entry.opened + self.limits.minimumSilentAge
        {
            return id
        }
        return self.oldest.flatMap { now >= $0.entry.opened + self.limits.minimumAge ? $0.id : nil }
    }

    /// Sets the number of bytes that a connection retains.
    /// - Returns: The connection to close, which is the newest of those that retain the most bytes, or `nil` if none
    ///   has to be closed.
    package mutating func hold(_ id: ID, bytes: Int) -> ID? {
        guard let before = self.entries[id]?.bytes else { return nil }
        self.entries[id]?.bytes = max(0, bytes)
        self.bytes += max(0, bytes) - before
        guard self.bytes > self.limits.bytes else { return nil }
        let largest = self.entries.max { ($0.value.bytes, $0.key) < ($1.value.bytes, $1.key) }
        if let largest { self.close(largest.key) }
        return largest?.key
    }

    package mutating func close(_ id: ID) {
        guard let entry = self.entries.removeValue(forKey: id) else { return }
        self.bytes -= entry.bytes
        let most = 2 * self.entries.count + 64
        if self.order.count > most { self.order.removeAll { self.entries[$0] == nil } }
        if self.silent.count > most { self.silent.removeAll { self.entries[$0]?.isSilent != true } }
    }

    /// Returns the next time at which ``tick(now:)`` closes a connection, or `nil` if there are no connections.
    package mutating func nextDeadline() -> NIODeadline? { self.oldest.map { $0.entry.opened + self.limits.deadline } }

    /// Removes and returns the connections that were not authenticated before their deadline.
    package mutating func tick(now: NIODeadline) -> [ID] {
        var late: [ID] = []
        while let oldest = self.oldest, now >= oldest.entry.opened + self.limits.deadline {
            late.append(oldest.id)
            self.close(oldest.id)
        }
        return late
    }

    private var oldest: (id: ID, entry: Entry)? {
        mutating get {
            while let id = self.order.first {
                if let entry = self.entries[id] { return (id, entry) }
                self.order.removeFirst()
            }
            return nil
        }
    }
}
