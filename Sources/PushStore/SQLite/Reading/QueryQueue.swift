import Foundation

/// Decides which expensive query runs next: few at a time, one per key, keys in round robin order. It does no I/O.
struct QueryQueue {
    /// The limits of the queue.
    struct Limits: Hashable {
        /// The most queries that run at the same time.
        var running = 1
        /// The most queries that wait, of all keys together.
        var waiting = 32
        /// The most queries of one key that wait.
        var waitingPerKey = 4
    }

    typealias Ticket = UInt64

    /// A decision about a query that arrives.
    enum Decision: Equatable {
        case run, wait
        /// Too many queries wait already.
        case reject
    }

    private let limits: Limits
    private var running: Set<UUID> = []
    /// The waiting queries of each key, in the order of arrival.
    private var waiting: [UUID: [Ticket]] = [:]
    /// The keys with waiting queries; the first one is next.
    private var order: [UUID] = []
    /// Indicates whether new queries wait, because the log is being checkpointed.
    private(set) var isHeld = false

    init(limits: Limits = Limits()) { self.limits = limits }

    var runningCount: Int { self.running.count }
    var waitingCount: Int { self.waiting.values.reduce(0) { $0 + $1.count } }

    /// Returns `true` if a query of this key runs or waits.
    func isBusy(_ key: UUID) -> Bool { self.running.contains(key) || self.waiting[key] != nil }

    /// Decides about a query that arrives.
    mutating func enter(_ key: UUID, _ ticket: Ticket) -> Decision {
        if self.order.isEmpty, self.mayRun(key) {
            self.running.insert(key)
            return .run
        }
        let waiting = self.waiting[key]?.count ?? 0
        guard waiting < self.limits.waitingPerKey, self.waitingCount < self.limits.waiting else { return .reject }
        if waiting == 0 { self.order.append(key) }
        self.waiting[key, default: []].append(ticket)
        return .wait
    }

    /// Notes that a query of this key has ended.
    /// - Returns: The queries that begin now.
    mutating func leave(_ key: UUID) -> [Ticket] {
        self.running.remove(key)
        return self.startNext()
    }

    /// Removes a waiting query.
    /// - Returns: `true` if it was waiting.
    mutating func abandon(_ key: UUID, _ ticket: Ticket) -> Bool {
        guard let index = self.waiting[key]?.firstIndex(of: ticket) else { return false }
        self.waiting[key]?.remove(at: index)
        self.forget(key)
        return true
    }

    /// Lets no query begin until ``release()``.
    mutating func hold() { self.isHeld = true }

    /// Lets queries begin again.
    /// - Returns: The queries that begin now.
    mutating func release() -> [Ticket] {
        self.isHeld = false
        return self.startNext()
    }

    private func mayRun(_ key: UUID) -> Bool {
        !self.isHeld && self.runningCount < self.limits.running && !self.running.contains(key)
    }

    private mutating func startNext() -> [Ticket] {
        var started: [Ticket] = []
        while let index = self.order.firstIndex(where: self.mayRun) {
            let key = self.order.remove(at: index)
            guard let ticket = self.waiting[key]?.removeFirst() else { continue }
            if self.waiting[key]?.isEmpty ?? true { self.waiting[key] = nil } else { self.order.append(key) }
            self.running.insert(key)
            started.append(ticket)
        }
        return started
    }

    private mutating func forget(_ key: UUID) {
        guard self.waiting[key]?.isEmpty ?? true else { return }
        self.waiting[key] = nil
        self.order.removeAll { $0 == key }
    }
}
