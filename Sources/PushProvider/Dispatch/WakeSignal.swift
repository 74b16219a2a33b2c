package import PushStore

/// Wakes a lane of the dispatcher: something was accepted, a place has become free, or time has come.
package final class WakeSignal: Sendable {
    private let signals: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    package init() {
        (self.signals, self.continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package func signal() {
        self.continuation.yield()
    }

    /// No more waiting: who waits ends.
    package func end() {
        self.continuation.finish()
    }

    /// Waits for a signal, `limit` at most. For one caller at a time.
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

/// One for each lane.
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
