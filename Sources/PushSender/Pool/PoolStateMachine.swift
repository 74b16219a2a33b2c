import NIOCore
import PushSupport

/// A state machine without I/O that decides when a pool opens connections, and which of them it wakes. Connections take
/// work by themselves. A new one is opened if pushes wait, every connection is busy, and the service has responded on
/// all of them. A connection with provider tokens may begin with a single stream (APNs reference 1.3), which is no
/// reason for more connections.
struct PoolStateMachine {
    /// An action that the pool has to perform after an event.
    enum Action: Hashable {
        case connect(Int)
        /// Call ``timerFired(waiting:now:)`` at this time, to open a connection.
        case connectLater(NIODeadline)
        /// Wake the connection with this id, so that it takes work.
        case wake(Int)
    }

    private enum Status: Hashable {
        case connecting
        /// A status in which the connection takes pushes. It is confirmed once the service has responded to a request,
        /// and idle if it had free streams when no push waited.
        case ready(isConfirmed: Bool, isIdle: Bool)
        /// A status in which the connection takes no more work, and its success or failure has already been counted.
        case draining
    }

    private struct Connection {
        let id: Int
        var status: Status
        let start: NIODeadline
    }

    private let maximum: Int
    private let backoff: Backoff
    /// The maximum number of consecutive connections that may close within ``Backoff/base`` of their start without
    /// delaying the next one.
    private static let allowedShortLives = 3

    private var connections: [Connection] = []
    private var nextID = 0
    private var failures = 0
    private var shortLives = 0
    private var nextAttempt: NIODeadline?
    private var isTimerSet = false
    private(set) var isClosing = false

    init(maximum: Int, backoff: Backoff) { (self.maximum, self.backoff) = (maximum, backoff) }

    var ids: [Int] { self.connections.map(\.id) }

    var isEmpty: Bool { self.connections.isEmpty }

    var readyCount: Int { self.connections.count { if case .ready = $0.status { true } else { false } } }

    func isReady(_ id: Int) -> Bool {
        if case .ready = self.status(id) { true } else { false }
    }

    // MARK: Events

    /// Handles queued pushes: wakes idle connections, or else opens one if it is needed.
    /// - Parameters:
    ///   - count: The number of pushes that were queued.
    ///   - waiting: The number of all waiting pushes, as in the other events.
    mutating func pushesQueued(_ count: Int, waiting: Int, now: NIODeadline) -> [Action] {
        var actions: [Action] = []
        for index in self.connections.indices where actions.count < count {
            guard case .ready(let isConfirmed, isIdle: true) = self.connections[index].status else { continue }
            self.connections[index].status = .ready(isConfirmed: isConfirmed, isIdle: false)
            actions.append(.wake(self.connections[index].id))
        }
        return actions.isEmpty ? self.connectIfNeeded(waiting: waiting, now: now) : actions
    }

    /// Handles the establishment of a connection, which then takes work unless it is already draining.
    mutating func connectionReady(_ id: Int) {
        guard self.status(id) == .connecting else { return }
        self.change(id, to: .ready(isConfirmed: false, isIdle: false))
    }

    /// Handles the taking of work by a connection. `isIdle` is `true` if it could have taken more pushes.
    mutating func workTaken(_ id: Int, isIdle: Bool, waiting: Int, now: NIODeadline) -> [Action] {
        guard case .ready(let isConfirmed, _) = self.status(id) else { return [] }
        self.change(id, to: .ready(isConfirmed: isConfirmed, isIdle: isIdle))
        return self.connectIfNeeded(waiting: waiting, now: now)
    }

    mutating func connectionConfirmed(_ id: Int) {
        self.failures = 0
        self.nextAttempt = nil
        guard case .ready(_, let isIdle) = self.status(id) else { return }
        self.change(id, to: .ready(isConfirmed: true, isIdle: isIdle))
    }

    /// Handles a connection that takes no more work. If the service never responded on it, the next attempt to connect
    /// is delayed.
    mutating func connectionDraining(
        _ id: Int,
        waiting: Int,
        now: NIODeadline,
        using generator: inout some RandomNumberGenerator
    ) -> [Action] {
        switch self.status(id) {
        case .ready(isConfirmed: true, _): self.change(id, to: .draining)
        case .connecting, .ready:
            self.change(id, to: .draining)
            self.failures += 1
            self.delay(afterFailures: self.failures, now: now, using: &generator)
        case .draining, nil: return []
        }
        return self.connectIfNeeded(waiting: waiting, now: now)
    }

    /// Replaces all connections after a change of the credential. Failures with the old credential no longer count.
    mutating func credentialChanged(waiting: Int, now: NIODeadline) -> [Action] {
        self.failures = 0
        self.shortLives = 0
        self.nextAttempt = nil
        return self.connectionsOutdated(Set(self.ids), waiting: waiting, now: now)
    }

    mutating func connectionsOutdated(_ ids: Set<Int>, waiting: Int, now: NIODeadline) -> [Action] {
        for index in self.connections.indices where ids.contains(self.connections[index].id) {
            self.connections[index].status = .draining
        }
        return self.connectIfNeeded(waiting: waiting, now: now)
    }

    /// Handles the closing of a connection. The next attempt to connect is delayed if the connection failed before it
    /// was confirmed, or if several consecutive connections closed soon after their start.
    /// - Parameter isOrderly: Pass `true` if the connection closed without a failure.
    mutating func connectionClosed(
        _ id: Int,
        isOrderly: Bool,
        waiting: Int,
        now: NIODeadline,
        using generator: inout some RandomNumberGenerator
    ) -> [Action] {
        guard let index = self.connections.firstIndex(where: { $0.id == id }) else { return [] }
        let connection = self.connections.remove(at: index)
        var failures = 0
        switch connection.status {
        case .ready(isConfirmed: true, _), .draining:
            // Push services regard frequent connections as an attack (APNs reference 1.11).
            let isShort = now < connection.start + TimeAmount(self.backoff.base)
            self.shortLives = isShort ? self.shortLives + 1 : 0
            failures = self.shortLives - Self.allowedShortLives
        case .connecting, .ready:
            if !isOrderly {
                self.failures += 1
                failures = self.failures
            }
        }
        if failures > 0 { self.delay(afterFailures: failures, now: now, using: &generator) }
        return self.connectIfNeeded(waiting: waiting, now: now)
    }

    mutating func timerFired(waiting: Int, now: NIODeadline) -> [Action] {
        self.isTimerSet = false
        return self.connectIfNeeded(waiting: waiting, now: now)
    }

    mutating func close() { self.isClosing = true }

    // MARK: Decisions

    private mutating func delay(
        afterFailures failures: Int,
        now: NIODeadline,
        using generator: inout some RandomNumberGenerator
    ) {
        let attempt = now + TimeAmount(self.backoff.delay(afterFailures: failures, using: &generator))
        // A connection that drains and then closes counts twice; the second count must not shorten the delay.
        self.nextAttempt = max(self.nextAttempt ?? attempt, attempt)
    }

    private mutating func connectIfNeeded(waiting: Int, now: NIODeadline) -> [Action] {
        guard waiting > 0, !self.isClosing else { return [] }
        var active = 0
        for connection in self.connections {
            switch connection.status {
            case .draining: continue
            case .ready(isConfirmed: true, isIdle: false): active += 1
            case .connecting, .ready: return []
            }
        }
        guard active < self.maximum else { return [] }
        if let nextAttempt, now < nextAttempt {
            defer { self.isTimerSet = true }
            return self.isTimerSet ? [] : [.connectLater(nextAttempt)]
        }
        let id = self.nextID
        self.nextID += 1
        self.connections.append(Connection(id: id, status: .connecting, start: now))
        return [.connect(id)]
    }

    private func status(_ id: Int) -> Status? { self.connections.first { $0.id == id }?.status }

    private mutating func change(_ id: Int, to status: Status) {
        guard let index = self.connections.firstIndex(where: { $0.id == id }) else { return }
        self.connections[index].status = status
    }
}
