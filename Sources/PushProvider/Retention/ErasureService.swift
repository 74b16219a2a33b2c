package import Logging
import ProviderModel
package import PushStore
package import PushSupport
import PushTypes
import ServiceLifecycle
import Synchronization

/// The settings of the erasure of apps and users.
package struct ErasureSettings: Hashable, Sendable {
    /// The time after a request within which responses to pushes in flight may still be written. It is also the time
    /// after the last row is erased within which the caller may request the state of the erasure. Default 60 s.
    package var settling: Duration = .seconds(60)
    /// The minimum time between two rewrites of the database file. Default 1 h.
    package var overwriting: Duration = .seconds(3600)

    package init() {}
}

/// Completes erasures of apps and users: erases rows that their requests did not erase or that were written later, and
/// rewrites the database file.
package final class ErasureService: Service {
    private let store: any ErasureStore
    private let direct: DirectDispatch
    private let settings: ErasureSettings
    private let wake: WakeSignal
    private let time: any TimeSource
    private let logger: Logger
    private let overwrittenAt = Mutex<Timestamp?>(nil)
    /// The time by the steady clock at which all rows of each erasure were first found to be erased.
    private let completedAt = Mutex<[Round: Timestamp]>([:])

    /// An erasure, as begun or extended by one request.
    private struct Round: Hashable {
        var erasure, request: Int64

        init(_ erasure: ErasureRecord) { (self.erasure, self.request) = (erasure.id, erasure.request) }
    }

    /// Creates the service. `direct` takes back pushes in memory, and `wake` signals that there is something to erase.
    package init(
        store: any ErasureStore,
        direct: DirectDispatch,
        settings: ErasureSettings = ErasureSettings(),
        wake: WakeSignal,
        time: any TimeSource,
        logger: Logger
    ) {
        (self.store, self.direct, self.settings, self.wake) = (store, direct, settings, wake)
        (self.time, self.logger) = (time, logger)
    }

    /// Completes erasures until graceful shutdown, beginning with those that an earlier process has left.
    package func run() async {
        self.wake.signal()
        await self.wake.untilShutdown {
            var next: Duration = .seconds(3600)
            while await self.wake.wait(atMost: next) { next = await self.step() }
        }
    }

    /// Erases the rows of all unfinished erasures.
    /// - Returns: The time until the next step.
    package func step() async -> Duration {
        do {
            var isSettling = false
            let erasures = try await self.store.erasures().filter { !$0.isEmptied }
            self.forgetOthers(than: erasures)
            for erasure in erasures {
                while try await self.store.continueErasure(erasure, now: self.time.recorded) {
                    guard !Task.isShuttingDownGracefully else { return .zero }
                }
                // If the request did not wait for all rows, it knew only some of the tokens.
                _ = try await self.direct.takeBack(erasure, in: self.store)
                if self.time.steady.since(self.lastNews(of: erasure)) >= self.settings.settling {
                    try await self.store.finishErasure(erasure)
                } else {
                    isSettling = true
                }
            }
            try await self.store.eraseEnded(now: self.time.recorded)
            let isDone = try await self.overwrite()
            return isSettling ? .seconds(5) : isDone ? .seconds(3600) : .seconds(60)
        } catch {
            self.logger.error("erasure could not be finished, it is tried again", metadata: ["error": "\(error)"])
            return .seconds(60)
        }
    }

    /// Returns the time from which ``ErasureSettings/settling`` counts: the time of the request, or the time at which
    /// its rows were erased if the request was not answered as complete. Until the settling time has passed, the name
    /// of the erased user or app is kept, so that a repeated request reports the state and does not begin another
    /// erasure.
    private func lastNews(of erasure: ErasureRecord) -> Timestamp {
        guard erasure.isUnderWay else { return erasure.requestedAt }
        let (round, now) = (Round(erasure), self.time.steady)
        return self.completedAt.withLock { times in
            let time = times[round] ?? now
            times[round] = time
            return max(time, erasure.requestedAt)
        }
    }

    private func forgetOthers(than erasures: [ErasureRecord]) {
        let rounds = Set(erasures.map(Round.init))
        self.completedAt.withLock { times in times = times.filter { rounds.contains($0.key) } }
    }

    /// Rewrites the database file, unless it was rewritten within ``ErasureSettings/overwriting``.
    /// - Returns: `true` if no erasure is waiting for a rewrite, and `false` otherwise.
    private func overwrite() async throws -> Bool {
        guard try await self.store.erasures().contains(where: \.isEmptied) else { return true }
        let now = self.time.steady
        if let last = self.overwrittenAt.withLock({ $0 }), now.since(last) < self.settings.overwriting { return false }
        self.overwrittenAt.withLock { $0 = now }
        guard try await self.store.overwriteErased() else {
            self.overwrittenAt.withLock { $0 = nil }
            return false
        }
        self.logger.info("database file was written anew after an erasure")
        return true
    }
}
