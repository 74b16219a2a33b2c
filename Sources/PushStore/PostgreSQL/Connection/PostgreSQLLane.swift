#if PostgreSQL
import Dispatch
import Foundation
import PushSupport
import Synchronization

/// The calls that share some connections, in the order of their arrival, and the threads of these connections.
final class PostgreSQLLane: Sendable {
    private struct State {
        var calls: [(call: any PostgreSQLWaitingCall, end: ContinuousClock.Instant)] = []
        /// The number of the calls at the start of `calls` that were taken.
        var taken = 0
        var threads: Int
        var running = 0
        var isClosed = false
        var isExpiryScheduled = false
        /// The error of the last attempt to connect, or `nil` if it succeeded.
        var connectionError: String?

        var first: (call: any PostgreSQLWaitingCall, end: ContinuousClock.Instant)? {
            self.taken < self.calls.count ? self.calls[self.taken] : nil
        }

        mutating func removeFirst() {
            self.taken += 1
            // Moving the others with each call would take a time that grows with their number.
            guard self.taken * 2 > self.calls.count else { return }
            self.calls.removeFirst(self.taken)
            self.taken = 0
        }

        /// Returns whether a call waits, and forgets those before it whose callers have left.
        mutating func hasNext() -> Bool {
            while let first, !first.call.isWaiting { self.removeFirst() }
            return self.first != nil
        }

        /// Takes the first call whose caller still waits.
        mutating func next() -> (any PostgreSQLWaitingCall)? {
            guard self.hasNext(), let call = self.first?.call else { return nil }
            self.removeFirst()
            self.running += 1
            return call
        }
    }

    private let lane: PostgreSQLPool.Lane
    private let limits: PostgreSQLPool.Limits
    private let state: Mutex<State>
    /// Counts the calls that no thread has been woken for: at least as many as wait, and some that have left.
    private let arrivals = DispatchSemaphore(value: 0)
    /// Wakes the threads that wait before they connect again.
    private let closing = DispatchSemaphore(value: 0)
    private let closed = OneShotValue<Void>()

    init(
        _ lane: PostgreSQLPool.Lane,
        _ settings: PostgreSQLSettings,
        _ limits: PostgreSQLPool.Limits,
        columns: [String: String]
    ) {
        let count = max(1, limits.connections[lane] ?? 1)
        (self.lane, self.limits) = (lane, limits)
        self.state = Mutex(State(threads: count))
        for number in 1...count {
            let thread = Thread {
                self.serve(
                    PostgreSQLSession {
                        try PostgreSQLConnection(settings, columns: columns) { lane == .queries && self.isClosed }
                    }
                )
            }
            thread.name = "pq-\(lane)-\(number)"
            thread.start()
        }
    }

    private var isClosed: Bool { self.state.withLock { $0.isClosed } }

    var counts: (running: Int, waiting: Int) {
        self.state.withLock { state in
            (state.running, state.calls.dropFirst(state.taken).count { $0.call.isWaiting })
        }
    }

    /// Appends a call, which fails if no connection is free in time.
    func append(_ call: any PostgreSQLWaitingCall) {
        let (isClosed, schedulesExpiry) = self.state.withLock { state in
            guard !state.isClosed else { return (true, false) }
            state.calls.append((call, .now + self.limits.wait))
            defer { state.isExpiryScheduled = true }
            return (false, !state.isExpiryScheduled)
        }
        guard !isClosed else { return call.fail(StoreError.ending) }
        self.arrivals.signal()
        if schedulesExpiry { self.scheduleExpiry(in: self.limits.wait) }
    }

    private func scheduleExpiry(in delay: Duration) {
        DispatchQueue.global().asyncAfter(deadline: .now() + max(0, delay / .seconds(1))) { [weak self] in
            self?.failExpired()
        }
    }

    /// Fails the calls that have waited too long. All wait equally long, so they expire in the order of their arrival.
    private func failExpired() {
        let now = ContinuousClock.now
        let (expired, next, why) = self.state.withLock { state in
            var expired: [any PostgreSQLWaitingCall] = []
            while let first = state.first, first.end <= now {
                expired.append(first.call)
                state.removeFirst()
            }
            state.isExpiryScheduled = state.first != nil
            return (expired, state.first?.end, state.connectionError)
        }
        let message = "no connection of '\(self.lane)' was free within \(self.limits.wait)"
        let error = PostgreSQLError.unavailable(why.map { "\(message): \($0)" } ?? message)
        for call in expired { call.fail(error) }
        if let next { self.scheduleExpiry(in: next - now) }
    }

    /// Serves calls on the connection of a thread, until the lane is closed.
    private func serve(_ session: PostgreSQLSession) {
        var (generator, failures) = (SystemRandomNumberGenerator(), 0)
        while true {
            self.arrivals.wait()
            guard !self.isClosed else { break }
            guard self.state.withLock({ $0.hasNext() }) else { continue }
            do {
                // A call is taken once there is a connection for it, so that another thread may have it before.
                try session.connect()
                failures = 0
                let call = self.state.withLock { state in
                    state.connectionError = nil
                    return state.next()
                }
                guard let call else { continue }
                call.run(on: session)
                self.state.withLock { $0.running -= 1 }
            } catch {
                // The call is left to any thread, of which one may have a connection.
                self.arrivals.signal()
                failures += 1
                self.state.withLock { $0.connectionError = (error as? PostgreSQLError)?.message ?? "\(error)" }
                let delay = self.limits.reconnection.delay(afterFailures: failures, using: &generator)
                _ = self.closing.wait(timeout: .now() + delay / .seconds(1))
            }
        }
        session.disconnect()
        let isLast = self.state.withLock { state in
            state.threads -= 1
            return state.threads == 0
        }
        if isLast { self.closed.resolve(.success(())) }
    }

    func close() {
        let (calls, threads) = self.state.withLock { state in
            defer { (state.calls, state.taken, state.isClosed) = ([], 0, true) }
            return (state.calls.dropFirst(state.taken).map(\.call), state.isClosed ? 0 : state.threads)
        }
        for call in calls { call.fail(StoreError.ending) }
        for _ in 0..<threads {
            self.arrivals.signal()
            self.closing.signal()
        }
    }

    func waitUntilClosed() async { _ = try? await self.closed.value }
}
#endif
