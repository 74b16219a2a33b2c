import Foundation
import Synchronization

/// A gate at which expensive queries wait until ``QueryQueue`` lets them begin.
final class QueryGate: Sendable {
    /// The outcome of waiting at the gate.
    private enum Outcome {
        case run, rejected, cancelled, ending
    }

    private struct State {
        var queue: QueryQueue
        var next: QueryQueue.Ticket = 0
        var waiters: [QueryQueue.Ticket: CheckedContinuation<Outcome, Never>] = [:]
        /// The callers that wait until no query runs.
        var idle: [CheckedContinuation<Void, Never>] = []
        var isEnding = false
    }

    /// The key of the provider's own queries.
    private static let noKey = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    private let state: Mutex<State>
    /// The longest time for which a query waits.
    private let patience: Duration

    init(limits: QueryQueue.Limits, patience: Duration) {
        self.state = Mutex(State(queue: QueryQueue(limits: limits)))
        self.patience = patience
    }

    var isEnding: Bool { self.state.withLock { $0.isEnding } }

    /// Indicates whether new queries wait, because the log is being checkpointed.
    var isHeld: Bool { self.state.withLock { $0.queue.isHeld } }

    /// The numbers of queries that run and that wait.
    var counts: (running: Int, waiting: Int) { self.state.withLock { ($0.queue.runningCount, $0.queue.waitingCount) } }

    /// Returns `true` if a query of this key runs or waits.
    func isBusy(_ key: UUID?) -> Bool { self.state.withLock { $0.queue.isBusy(key ?? Self.noKey) } }

    /// Runs `body` once the queue lets it begin.
    /// - Throws: ``StoreError/tooManyQueries``, ``StoreError/ending``, `CancellationError`, or the error of `body`.
    func run<Value>(for key: UUID?, _ body: () async throws -> Value) async throws -> Value {
        let key = key ?? Self.noKey
        switch await self.enter(key) {
        case .run: break
        case .rejected: throw StoreError.tooManyQueries
        case .ending: throw StoreError.ending
        case .cancelled: throw CancellationError()
        }
        defer { self.leave(key) }
        return try await body()
    }

    /// Runs `body` while no query runs and none begins; those that run end first.
    func whileIdle<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        await withCheckedContinuation { continuation in
            let isIdle = self.state.withLock { state in
                state.queue.hold()
                guard state.queue.runningCount > 0 else { return true }
                state.idle.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
        defer {
            self.state.withLock { state in state.queue.release().compactMap { state.waiters.removeValue(forKey: $0) } }
                .forEach { $0.resume(returning: .run) }
        }
        return try await body()
    }

    /// Ends the gate: no query begins any more, and those that wait throw ``StoreError/ending``.
    func end() {
        self.state.withLock { state in
            state.isEnding = true
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        .forEach { $0.resume(returning: .ending) }
    }

    /// Waits until a query may begin.
    private func enter(_ key: UUID) async -> Outcome {
        let ticket = self.state.withLock { state in
            state.next += 1
            return state.next
        }
        let alarm = Task {
            try await Task.sleep(for: self.patience, clock: .continuous)
            self.abandon(key, ticket, .rejected)
        }
        defer { alarm.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = self.state.withLock { state -> Outcome? in
                    if Task.isCancelled { return .cancelled }
                    if state.isEnding { return .ending }
                    switch state.queue.enter(key, ticket) {
                    case .run: return .run
                    case .reject: return .rejected
                    case .wait:
                        state.waiters[ticket] = continuation
                        return nil
                    }
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            self.abandon(key, ticket, .cancelled)
        }
    }

    private func abandon(_ key: UUID, _ ticket: QueryQueue.Ticket, _ outcome: Outcome) {
        self.state.withLock { state in
            state.queue.abandon(key, ticket) ? state.waiters.removeValue(forKey: ticket) : nil
        }?
        .resume(returning: outcome)
    }

    private func leave(_ key: UUID) {
        typealias Waiters = ([CheckedContinuation<Outcome, Never>], [CheckedContinuation<Void, Never>])
        let (started, idle) = self.state.withLock { state -> Waiters in
            let started = state.queue.leave(key).compactMap { state.waiters.removeValue(forKey: $0) }
            guard state.queue.runningCount == 0 else { return (started, []) }
            defer { state.idle = [] }
            return (started, state.idle)
        }
        for waiter in started { waiter.resume(returning: .run) }
        for waiter in idle { waiter.resume() }
    }
}
