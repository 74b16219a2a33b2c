import Logging
import ProviderModel
import PushStore
import PushSupport
import ServiceLifecycle

/// Writes the results of pages.
///
/// It repeats a write until it succeeds, because a page whose result is lost would be sent again. If a result can never
/// be written, its notification is paused.
struct ResultWriter: Sendable {
    let store: any DispatchStore
    let pause: Duration
    let events: WakeSignal
    let metrics: DispatchMetrics
    let time: any TimeSource
    let logger: Logger

    func write(_ results: [PageResult]) async throws -> [CommitResult] {
        var hasLogged = false
        while true {
            do {
                let (store, now) = (self.store, self.time.recorded)
                // The task cannot be cancelled, so that results are written even while the process ends.
                let commits = try await Task { try await store.commit(results, now: now) }.value
                self.note(results, commits)
                return commits
            } catch let error as StoreError where error.isTemporary {
                if !hasLogged {
                    hasLogged = true
                    self.logger.error(
                        "results cannot be written, trying again until they can",
                        metadata: ["error": "\(error)"]
                    )
                }
                guard !Task.isShuttingDownGracefully, !Task.isCancelled else { throw error }
                try await Task.sleep(for: self.pause)
            } catch {
                return try await self.writeOneByOne(results, after: error)
            }
        }
    }

    private func writeOneByOne(_ results: [PageResult], after error: any Error) async throws -> [CommitResult] {
        if results.count > 1 {
            var commits: [CommitResult] = []
            for result in results {
                do {
                    commits += try await self.write([result])
                } catch {
                    // The other pages were sent too, and have to be written.
                    self.logger.error("a result was not written", metadata: ["error": "\(error)"])
                    commits.append(.stopped)
                }
            }
            return commits
        }
        self.logger.error("a result can never be written", metadata: ["error": "\(error)"])
        for result in results {
            var stop = PageResult(notificationNumber: result.notificationNumber)
            stop.pauses = "its results could not be written: \(error)"
            stop.environmentPauses = result.environmentPauses
            _ = try await self.store.commit([stop], now: self.time.recorded)
        }
        return results.map { _ in .stopped }
    }

    /// Counts the commits that were refused for a lost lease. Wakes webhook delivery if `results` may have added
    /// events.
    func note(_ results: [PageResult], _ commits: [CommitResult]) {
        self.countLost(commits)
        if results.contains(where: \.mayHaveEvents) { self.events.signal() }
    }

    /// Counts pages whose lease was lost. The lease's next owner records their recipients in the ledger.
    private func countLost(_ commits: [CommitResult]) {
        let fenced = commits.count { $0 == .leaseLost }
        guard fenced > 0 else { return }
        self.metrics.countFenced(fenced)
        self.logger.warning("pages were sent under a lease that was lost", metadata: ["count": "\(fenced)"])
    }
}

extension PageResult {
    /// A Boolean value that indicates whether the commit may have added events for webhooks.
    fileprivate var mayHaveEvents: Bool {
        self.events != nil || !self.tokenChanges.isEmpty || self.removed.contains { $0.event != nil }
            || self.environmentPauses.contains { $0.event != nil }
    }
}
