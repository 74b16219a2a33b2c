package import PushStore
import ServiceLifecycle

/// Wakes a service that sleeps: there is new work, a free slot, or the clock was set.
package final class WakeSignal: Sendable {
    private let signals: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    package init() { (self.signals, self.continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    package func signal() { self.continuation.yield() }

    /// Ends the waiting for good.
    package func end() { self.continuation.finish() }

    /// Runs the work of a service, whose waiting ends with graceful shutdown or cancellation.
    func untilShutdown(_ work: () async -> Void) async {
        await withTaskCancellationOrGracefulShutdownHandler(operation: work) {
            self.end()
        }
    }

    /// Waits for a signal, `limit` at most. It serves one caller at a time.
    /// - Returns: `false` once ended.
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

/// The wake signals of the dispatcher's lanes.
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
