package import NIOCore

/// Decides which connections that have proven nothing must end, so that all of them together stay within a budget.
///
/// A value without I/O; time is passed in. A connection leaves by ``close(_:)`` when it has proven itself or has ended.
package struct UnauthenticatedStateMachine: Sendable {
    package typealias ID = UInt64

    package struct Limits: Hashable, Sendable {
        /// The bytes that all unproven connections may hold together. Default 8 MiB.
        package var bytes = 8 << 20
        /// Unproven connections at one time. Default 4,096.
        package var connections = 4096
        /// From accept to the proof. Default 60 s.
        package var deadline: TimeAmount = .seconds(60)
        /// The age under which a connection does not make room for a new one. Default 2 s: an honest client needs less.
        package var patience: TimeAmount = .seconds(2)
        /// The same for a connection that has sent nothing to speak of. Default 0.5 s: an honest client greets at once.
        package var silence: TimeAmount = .milliseconds(500)

        package init() {}
    }

    /// Why a connection must end.
    package enum Cause: String, Hashable, Sendable {
        case deadline = "no valid credential in time"
        case bytes = "unproven connections hold too much memory, and this one the most"
        case connections = "too many unproven connections"
    }

    private struct Entry {
        let opened: NIODeadline
        var bytes = 0
        var isSilent = true
    }

    package let limits: Limits
    private var entries: [ID: Entry] = [:]
    /// By age; ids whose connection has left lie here until they are passed or swept.
    private var order = CircularBuffer<ID>()
    /// The same for those that have said nothing; here those that spoke are passed too.
    private var silent = CircularBuffer<ID>()
    private var lastID: ID = 0
    /// Held by all together.
    package private(set) var bytes = 0

    package init(limits: Limits) {
        self.limits = limits
    }

    package var count: Int { self.entries.count }

    /// A connection was accepted.
    /// - Returns: its id, `nil` if it is refused; and the connection that must end in its favour.
    package mutating func open(now: NIODeadline) -> (id: ID?, ends: ID?) {
        var ends: ID?
        if self.entries.count >= max(1, self.limits.connections) {
            guard let victim = self.victim(now: now) else { return (nil, nil) }
            ends = victim
            self.close(victim)
        }
        self.lastID += 1
        self.entries[self.lastID] = Entry(opened: now)
        self.order.append(self.lastID)
        self.silent.append(self.lastID)
        return (self.lastID, ends)
    }

    /// A connection has sent as much as a greeting has.
    package mutating func heard(_ id: ID) {
        self.entries[id]?.isSilent = false
    }

    /// Chooses the connection that makes room: the oldest that is silent, else the oldest that has had its time.
    private mutating func victim(now: NIODeadline) -> ID? {
        while let id = self.silent.first {
            if let entry = self.entries[id], entry.isSilent {
                if now >= entry.opened + self.limits.silence { return id }
                break
            }
            self.silent.removeFirst()
        }
        return self.oldest.flatMap { now >= $0.entry.opened + self.limits.patience ? $0.id : nil }
    }

    /// A connection holds so many bytes now.
    /// - Returns: the connection that must end: the one that holds the most, of equal ones the newest.
    package mutating func hold(_ id: ID, bytes: Int) -> ID? {
        guard let before = self.entries[id]?.bytes else { return nil }
        self.entries[id]?.bytes = max(0, bytes)
        self.bytes += max(0, bytes) - before
        guard self.bytes > self.limits.bytes else { return nil }
        let largest = self.entries.max { ($0.value.bytes, $0.key) < ($1.value.bytes, $1.key) }
        if let largest { self.close(largest.key) }
        return largest?.key
    }

    /// A connection has proven itself, or has ended.
    package mutating func close(_ id: ID) {
        guard let entry = self.entries.removeValue(forKey: id) else { return }
        self.bytes -= entry.bytes
        let most = 2 * self.entries.count + 64
        if self.order.count > most { self.order.removeAll { self.entries[$0] == nil } }
        if self.silent.count > most { self.silent.removeAll { self.entries[$0]?.isSilent != true } }
    }

    /// The time at which ``tick(now:)`` has something to do.
    package mutating func nextDeadline() -> NIODeadline? {
        self.oldest.map { $0.entry.opened + self.limits.deadline }
    }

    /// - Returns: the connections whose time for a proof is over.
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
