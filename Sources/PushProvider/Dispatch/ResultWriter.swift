import Logging
import Metrics
import PushStore
import PushSupport
import ServiceLifecycle

/// Writes what was sent. While nothing can be written, it waits: to forget it would be to send it again. What can never
/// be written pauses its notification, and only that.
struct ResultWriter: Sendable {
    let store: any DispatchStore
    /// Between two tries.
    let pause: Duration
    let time: any TimeSource
    let logger: Logger

    func write(_ results: [PageResult]) async throws -> [CommitResult] {
        var hasSaidSo = false
        while true {
            do {
                let (store, now) = (self.store, self.time.recorded)
                // Not to be cancelled: what has been sent is to be written even when the process has to end.
                let answers = try await Task { try await store.commit(results, now: now) }.value
                self.note(answers)
                return answers
            } catch let error as StoreError {
                if !hasSaidSo {
                    hasSaidSo = true
                    self.logger.error(
                        "what was sent cannot be written, trying until it can",
                        metadata: ["error": "\(error)"]
                    )
                }
                guard !Task.isShuttingDownGracefully, !Task.isCancelled else { throw error }
                try await Task.sleep(for: self.pause)
            } catch {
                return try await self.writeApart(results, after: error)
            }
        }
    }

    private func writeApart(_ results: [PageResult], after error: any Error) async throws -> [CommitResult] {
        if results.count > 1 {
            var answers: [CommitResult] = []
            for result in results {
                do {
                    answers += try await self.write([result])
                } catch {
                    // The others were sent too, and are to be written.
                    self.logger.error("what was sent is not written", metadata: ["error": "\(error)"])
                    answers.append(.stops)
                }
            }
            return answers
        }
        self.logger.error("what was sent can never be written", metadata: ["error": "\(error)"])
        for result in results {
            var stop = PageResult(notificationNumber: result.notificationNumber)
            stop.pauses = "what was sent could not be written: \(error)"
            _ = try await self.store.commit([stop], now: self.time.recorded)
        }
        return results.map { _ in .stops }
    }

    /// What was sent under a lease that was lost is in the ledger of the lease's next owner.
    private func note(_ answers: [CommitResult]) {
        let fenced = answers.count { $0 == .notYours }
        guard fenced > 0 else { return }
        Counter(label: "martlet_pages_fenced_total").increment(by: fenced)
        self.logger.warning("pages were sent under a lease that was lost", metadata: ["count": "\(fenced)"])
    }
}
