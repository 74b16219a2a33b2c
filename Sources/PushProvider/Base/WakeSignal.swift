package import ProviderModel
import ServiceLifecycle

/// A signal that wakes a sleeping service when there is new work, a slot is free, or the clock was set.
package final class WakeSignal: Sendable {
    private let signals: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    package init() { (self.signals, self.continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    package func signal() { self.continuation.yield() }

    /// Ends the wait in progress and all later ones: ``wait(atMost:)`` returns `false`.
    package func end() { self.continuation.finish() }

    /// Runs `work`. Graceful shutdown or cancellation ends its waits for this signal.
    func untilShutdown(_ work: () async -> Void) async {
        await withTaskCancellationOrGracefulShutdownHandler(operation: work) {
            self.end()
        }
    }

    /// Waits for a signal, at most for `limit`. One task at a time may wait.
    /// - Returns: `true` after a signal or when `limit` has passed, and `false` after ``end()``.
    package func wait(atMost limit: Duration) async -> Bool {
        let timer = Task { [continuation] in
            try await Task.sleep(for: limit)
            continuation.yield()
        }
        defer { timer.cancel() }
        for await _ in self.signals { return true }
        return false
    }
}

/// The signals that wake the dispatcher's two lanes: the urgent one, and the bulk one for campaigns.
package struct LaneWakeSignals: Sendable {
    private let urgent = WakeSignal()
    private let bulk = WakeSignal()

    package init() {}

    package subscript(lane: NotificationRecord.Lane) -> WakeSignal {
        switch lane {
        case .urgent: self.urgent
        case .bulk: self.bulk
        }
    }
}
