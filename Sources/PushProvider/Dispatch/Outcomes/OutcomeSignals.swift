package import Foundation
import Synchronization

/// Wakes the requests that wait for outcomes of a notification, once outcomes are on disk.
package final class OutcomeSignals: Sendable {
    private struct State {
        var isEnded = false
        var nextID = 0
        var waiting: [UUID: [Int: AsyncStream<Void>.Continuation]] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Wakes the requests that wait for a notification. It is called after outcomes or the state were written.
    package func signal(_ notification: UUID) {
        let waiting = self.state.withLock { $0.waiting.isEmpty ? [:] : $0.waiting[notification] ?? [:] }
        for continuation in waiting.values { continuation.yield() }
    }

    /// Finishes all streams of ``observe(_:atMost:_:)``, which ends the requests' waits. It is called at shutdown.
    package func end() {
        let waiting = self.state.withLock { state in
            state.isEnded = true
            return state.waiting.values.flatMap(\.values)
        }
        for continuation in waiting { continuation.finish() }
    }

    /// Runs `body` with a stream of the signals for a notification. The stream finishes after `limit` or at shutdown.
    package func observe<Value: Sendable>(
        _ notification: UUID,
        atMost limit: Duration,
        _ body: (AsyncStream<Void>) async throws -> Value
    ) async rethrows -> Value {
        let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = self.state.withLock { state in
            state.nextID += 1
            if state.isEnded { continuation.finish() }
            state.waiting[notification, default: [:]][state.nextID] = continuation
            return state.nextID
        }
        let timer = Task {
            try await Task.sleep(for: limit)
            continuation.finish()
        }
        defer {
            timer.cancel()
            self.state.withLock { state in
                state.waiting[notification]?[id] = nil
                if state.waiting[notification]?.isEmpty == true { state.waiting[notification] = nil }
            }
        }
        return try await body(signals)
    }
}
