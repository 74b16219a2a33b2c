import PushProtocol

/// Wakes the dispatcher: something was accepted, or time has come.
package final class Wake: Sendable {
    private let signals: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    package init() {
        (self.signals, self.continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package func signal() {
        self.continuation.yield()
    }

    /// No more waiting: the dispatcher ends.
    func end() {
        self.continuation.finish()
    }

    /// Waits for a signal, `limit` at most. For one caller at a time.
    /// - Returns: `false` once ended.
    func wait(atMost limit: Duration) async -> Bool {
        let timer = Task { [continuation] in
            try await Task.sleep(for: limit)
            continuation.yield()
        }
        defer { timer.cancel() }
        for await _ in self.signals { return true }
        return false
    }
}
