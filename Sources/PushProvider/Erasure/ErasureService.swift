package import Logging
package import PushStore
package import PushSupport
import PushTypes
import ServiceLifecycle
import Synchronization

/// The times of the erasure of apps and users.
package struct ErasureSettings: Hashable, Sendable {
    /// The time after a request in which responses to pushes that were in flight may still be written. Default 60 s.
    package var settling: Duration = .seconds(60)
    /// The shortest time between two rewritings of the database file. Default 1 h.
    package var overwriting: Duration = .seconds(3600)

    package init() {}
}

/// Finishes erasures: what a request has left, what was written late, and the database file.
package final class ErasureService: Service {
    private let store: any ErasureStore
    private let direct: DirectDispatch
    private let settings: ErasureSettings
    private let wake: WakeSignal
    private let time: any TimeSource
    private let logger: Logger
    private let overwrittenAt = Mutex<Timestamp?>(nil)

    /// - Parameters:
    ///   - direct: The notifications in memory, from which pushes are taken back.
    ///   - wake: Signalled when there is something to erase.
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

    /// Works until graceful shutdown; at first on what an earlier process has left.
    package func run() async {
        self.wake.signal()
        await self.wake.untilShutdown {
            var next: Duration = .seconds(3600)
            while await self.wake.wait(atMost: next) { next = await self.step() }
        }
    }

    /// Erases what is due.
    ///
    /// - Returns: The time until there is more to do.
    package func step() async -> Duration {
        do {
            var isSettling = false
            for erasure in try await self.store.erasures() where !erasure.isEmptied {
                while try await self.store.continueErasure(erasure, now: self.time.recorded) {
                    guard !Task.isShuttingDownGracefully else { return .zero }
                }
                // A request that did not wait for all rows knew only some tokens.
                _ = try await self.direct.takeBack(erasure, in: self.store)
                if self.time.steady.since(erasure.requestedAt) >= self.settings.settling {
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

    /// Rewrites the file, unless that was done lately.
    ///
    /// - Returns: `true` if nothing waits for it.
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
