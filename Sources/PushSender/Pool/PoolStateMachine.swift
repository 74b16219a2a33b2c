import NIOCore
import PushSupport

/// Decides when a pool opens connections and which of them it wakes, without I/O.
///
/// Connections pull their work. A new one is opened when pushes wait, every connection is busy and all of them have
/// had an answer: a token connection may begin with a single stream (reference 1.3), and that is no reason for more.
struct PoolStateMachine {
    enum Action: Hashable {
        case connect(Int)
        /// Call ``timerFired(waiting:now:)`` then.
        case connectLater(NIODeadline)
        /// Let this connection ask for work.
        case wake(Int)
    }

    private enum Status: Hashable {
        case connecting
        case ready(isProven: Bool, isHungry: Bool)
        /// Whether it was of use has been judged.
        case draining
    }

    private let maximum: Int
    private let backoff: Backoff
    /// Connections that may end within ``Backoff/base`` of their start, one after the other, before the next waits.
    private static let freeShortLives = 3

    private var connections: [(id: Int, status: Status, start: NIODeadline)] = []
    private var nextID = 0
    private var failures = 0
    private var shortLives = 0
    private var nextAttempt: NIODeadline?
    private var isTimerSet = false
    private var isClosing = false

    init(maximum: Int, backoff: Backoff) {
        self.maximum = maximum
        self.backoff = backoff
    }

    /// Of all connections, also those that are not there yet.
    var ids: [Int] { self.connections.map(\.id) }

    var isEmpty: Bool { self.connections.isEmpty }

    /// Those that can take requests.
    var readyCount: Int {
        self.connections.count { if case .ready = $0.status { true } else { false } }
    }

    /// Pushes were added to those that wait.
    mutating func workArrived(_ count: Int, waiting: Int, now: NIODeadline) -> [Action] {
        var actions: [Action] = []
        for index in self.connections.indices where actions.count < count {
            guard case .ready(let isProven, isHungry: true) = self.connections[index].status else { continue }
            self.connections[index].status = .ready(isProven: isProven, isHungry: false)
            actions.append(.wake(self.connections[index].id))
        }
        return actions.isEmpty ? self.connectIfNeeded(waiting: waiting, now: now) : actions
    }

    /// It may take work, unless it was told to drain before it stood.
    mutating func ready(_ id: Int) {
        guard self.status(id) == .connecting else { return }
        self.change(id, to: .ready(isProven: false, isHungry: false))
    }

    /// The connection asked for work; `isHungry` if it could have taken more.
    mutating func asked(_ id: Int, isHungry: Bool, waiting: Int, now: NIODeadline) -> [Action] {
        guard case .ready(let isProven, _) = self.status(id) else { return [] }
        self.change(id, to: .ready(isProven: isProven, isHungry: isHungry))
        return self.connectIfNeeded(waiting: waiting, now: now)
    }

    /// The service answered a request on it.
    mutating func proven(_ id: Int) {
        self.failures = 0
        self.nextAttempt = nil
        guard case .ready(_, let isHungry) = self.status(id) else { return }
        self.change(id, to: .ready(isProven: true, isHungry: isHungry))
    }

    /// It takes no more work. One that has not been of any use makes the next attempt wait.
    mutating func draining(
        _ id: Int,
        waiting: Int,
        now: NIODeadline,
        using generator: inout some RandomNumberGenerator
    ) -> [Action] {
        switch self.status(id) {
        case .ready(isProven: true, _): self.change(id, to: .draining)
        case .connecting, .ready:
            self.change(id, to: .draining)
            self.failures += 1
            self.wait(afterFailures: self.failures, now: now, using: &generator)
        case .draining, nil: return []
        }
        return self.connectIfNeeded(waiting: waiting, now: now)
    }

    /// There is another credential: all connections drain, and what went wrong with the old one counts no more.
    mutating func startAfresh(waiting: Int, now: NIODeadline) -> [Action] {
        for index in self.connections.indices { self.connections[index].status = .draining }
        self.failures = 0
        self.shortLives = 0
        self.nextAttempt = nil
        return self.connectIfNeeded(waiting: waiting, now: now)
    }

    func isReady(_ id: Int) -> Bool {
        if case .ready = self.status(id) { true } else { false }
    }

    private mutating func wait(
        afterFailures failures: Int,
        now: NIODeadline,
        using generator: inout some RandomNumberGenerator
    ) {
        self.nextAttempt = now + TimeAmount(self.backoff.delay(afterFailures: failures, using: &generator))
    }

    /// It is gone. One that ended by itself before any answer makes the next attempt wait, and so does the last of several
    /// that ended soon after their start.
    mutating func closed(
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
        case .ready(isProven: true, _), .draining:
            // Connecting again and again is what push services take for an attack (reference 1.11).
            let isShort = now < connection.start + TimeAmount(self.backoff.base)
            self.shortLives = isShort ? self.shortLives + 1 : 0
            failures = self.shortLives - Self.freeShortLives
        case .connecting, .ready:
            if !isOrderly {
                self.failures += 1
                failures = self.failures
            }
        }
        if failures > 0 { self.wait(afterFailures: failures, now: now, using: &generator) }
        return self.connectIfNeeded(waiting: waiting, now: now)
    }

    mutating func timerFired(waiting: Int, now: NIODeadline) -> [Action] {
        self.isTimerSet = false
        return self.connectIfNeeded(waiting: waiting, now: now)
    }

    /// Opens nothing any more.
    mutating func close() {
        self.isClosing = true
    }

    private mutating func connectIfNeeded(waiting: Int, now: NIODeadline) -> [Action] {
        guard waiting > 0, !self.isClosing else { return [] }
        var active = 0
        for connection in self.connections {
            switch connection.status {
            case .draining: continue
            case .ready(isProven: true, isHungry: false): active += 1
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
        self.connections.append((id, .connecting, now))
        return [.connect(id)]
    }

    private func status(_ id: Int) -> Status? {
        self.connections.first { $0.id == id }?.status
    }

    private mutating func change(_ id: Int, to status: Status) {
        guard let index = self.connections.firstIndex(where: { $0.id == id }) else { return }
        self.connections[index].status = status
    }
}
