package import Logging
package import PushStore
package import PushSupport
import PushTypes
import ServiceLifecycle

/// The times for which finished records are kept.
package struct RetentionSettings: Hashable, Sendable {
    /// The time for which finished notifications, their deliveries and idempotency keys, and token events are kept.
    /// Default 30 days.
    package var notifications: Duration = .seconds(30 * 86_400)
    /// The time for which events for webhooks are kept. Default 7 days.
    package var events: Duration = .seconds(7 * 86_400)
    /// The time for which audit entries are kept. Default 365 days.
    package var audit: Duration = .seconds(365 * 86_400)
    /// The time from the start to the first cleanup. A clock that is wrong at the start is set by then. Default 10 min.
    package var firstCleaning: Duration = .seconds(600)
    /// The time between two cleanups. Default 1 h.
    package var cleaning: Duration = .seconds(3600)

    package init() {}
}

/// Deletes finished records after their retention time, in small transactions.
///
/// Because deletion is final, the age of records is measured by the earlier of the two clocks. The steady clock is
/// never ahead of the time for which the provider has run (decision 17).
package struct RetentionService: Service {
    /// The maximum number of rows that are deleted in one transaction.
    private static let batch = 5000

    private let store: any RetentionStore
    private let settings: RetentionSettings
    private let files: FileCleaner?
    private let wake: WakeSignal
    private let time: any TimeSource
    private let logger: Logger

    /// Creates the service. `files` removes unused uploaded files, or is `nil` if there is no folder of files. `wake`
    /// is signalled when the clocks have to be read again.
    package init(
        store: any RetentionStore,
        settings: RetentionSettings = RetentionSettings(),
        files: FileCleaner? = nil,
        wake: WakeSignal = WakeSignal(),
        time: any TimeSource,
        logger: Logger
    ) {
        (self.store, self.settings, self.files) = (store, settings, files)
        (self.wake, self.time, self.logger) = (wake, time, logger)
    }

    /// Deletes old records at the interval ``RetentionSettings/cleaning`` until graceful shutdown.
    package func run() async throws {
        await self.wake.untilShutdown {
            var next = self.time.steady.advanced(by: self.settings.firstCleaning)
            while await self.wake.wait(atMost: max(.milliseconds(1), next.since(self.time.steady))) {
                guard self.time.steady >= next else { continue }
                do {
                    try await self.clean()
                } catch {
                    self.logger.error("old records could not be deleted", metadata: ["error": "\(error)"])
                }
                next = self.time.steady.advanced(by: self.settings.cleaning)
            }
        }
    }

    /// Deletes all records whose retention time has passed.
    package func clean() async throws {
        let now = self.time.reading.earlier
        let oldest = now.advanced(by: .zero - self.settings.notifications)
        try await self.repeated { try await self.store.forget(before: oldest, limit: Self.batch) }
        try await self.repeated { try await self.store.forgetConnections(before: oldest, limit: Self.batch) }
        try await self.repeated { try await self.store.forgetLegacyTokens(before: oldest, limit: Self.batch) }
        let oldestAudit = now.advanced(by: .zero - self.settings.audit)
        try await self.repeated { try await self.store.forgetAudit(before: oldestAudit, limit: Self.batch) }
        try await self.repeated { try await self.store.rollUpStatistics(now: now) }
        let steady = self.time.steady
        try await self.repeated { try await self.store.forgetCapUses(now: steady, limit: Self.batch) }
        _ = try await self.store.forgetEvents(before: now.advanced(by: .zero - self.settings.events))
        try await self.files?.clean(now: now)
    }

    private func repeated(_ forget: () async throws -> Int) async throws {
        while try await forget() > 0 {
            guard !Task.isShuttingDownGracefully, !Task.isCancelled else { return }
        }
    }
}
