package import NIOCore

/// Decides which unauthenticated connections must be closed, so that all of them together stay within a budget.
///
/// A value without I/O; time is passed in. A connection leaves by ``close(_:)`` when it is authenticated or closed.
package struct UnauthenticatedConnectionStateMachine: Sendable {
    package typealias ID = UInt64

    /// The budget of all unauthenticated connections together.
    package struct Limits: Hashable, Sendable {
        /// The maximum number of bytes that all connections hold together. Default 8 MiB.
        package var bytes = 8 << 20
        /// The maximum number of connections. Default 4,096.
        package var connections = 4096
        /// The longest time from accept to authentication. Default 60 s.
        package var deadline: TimeAmount = .seconds(60)
        /// The age under which a connection is not closed in favour of a new one. Default 2 s: an honest client needs
        /// less.
        package var minimumAge: TimeAmount = .seconds(2)
        /// The age under which a connection without a first message is not closed in favour of a new one. Default 0.5
        /// s: an honest client sends a message at once.
        package var minimumSilentAge: TimeAmount = .milliseconds(500)

        package init() {}
    }

    /// The reason for which a connection is closed.
    package enum Cause: String, Hashable, Sendable {
        case deadline = "no valid credential in time"
        case bytes = "unauthenticated connections hold too much memory, and this one the most"
        case connections = "too many unauthenticated connections"
    }

    /// A connection that is tracked.
    private struct Entry {
        let opened: NIODeadline
        var bytes = 0
        var isSilent = true
    }

    package let limits: Limits
    private var entries: [ID: Entry] = [:]
    /// The connections by age. The ids of connections that have left stay until they are reached or removed.
    private var order = CircularBuffer<ID>()
    /// The connections without a first message by age. The ids of connections that have sent one stay until they are
    /// reached or removed.
    private var silent = CircularBuffer<ID>()
    private var lastID: ID = 0
    /// The number of bytes that all connections hold.
    package private(set) var bytes = 0

    package init(limits: Limits) { self.limits = limits }

    package var count: Int { self.entries.count }

    /// Admits a connection that was accepted.
    /// - Returns: Its id, or `nil` if it is rejected, and the connection that must be closed in its favour.
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

    /// Records that a connection has sent its first message.
    package mutating func firstMessageReceived(_ id: ID) { self.entries[id]?.isSilent = false }

    /// Returns the connection that is closed in favour of a new one: the oldest silent one, else the oldest one of
    /// sufficient age.
    private mutating func victim(now: NIODeadline) -> ID? {
        while let id = self.silent.first, self.entries[id]?.isSilent != true { self.silent.removeFirst() }
        if let id = self.silent.first, let entry = self.entries[id], now >= entry.opened + self.limits.minimumSilentAge
        {
            return id
        }
        return self.oldest.flatMap { now >= $0.entry.opened + self.limits.minimumAge ? $0.id : nil }
    }

    /// Sets the number of bytes that a connection holds.
    /// - Returns: The connection that must be closed, which is the one that holds the most, or the newest of several.
    package mutating func hold(_ id: ID, bytes: Int) -> ID? {
        guard let before = self.entries[id]?.bytes else { return nil }
        self.entries[id]?.bytes = max(0, bytes)
        self.bytes += max(0, bytes) - before
        guard self.bytes > self.limits.bytes else { return nil }
        let largest = self.entries.max { ($0.value.bytes, $0.key) < ($1.value.bytes, $1.key) }
        if let largest { self.close(largest.key) }
        return largest?.key
    }

    /// Forgets a connection that is authenticated or closed.
    package mutating func close(_ id: ID) {
        guard let entry = self.entries.removeValue(forKey: id) else { return }
        self.bytes -= entry.bytes
        let most = 2 * self.entries.count + 64
        if self.order.count > most { self.order.removeAll { self.entries[$0] == nil } }
        if self.silent.count > most { self.silent.removeAll { self.entries[$0]?.isSilent != true } }
    }

    /// Returns the next time at which ``tick(now:)`` closes a connection, or `nil` without connections.
    package mutating func nextDeadline() -> NIODeadline? { self.oldest.map { $0.entry.opened + self.limits.deadline } }

    /// Returns the connections that were not authenticated in time, and forgets them.
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
