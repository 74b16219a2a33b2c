package import ProviderModel
package import PushStore
package import PushSupport
package import PushTypes

/// Deactivates the devices on a feedback list, by the rules and the breaker for 410 responses (decision 14).
package struct FeedbackInvalidation: Sendable {
    /// The reason that the history of a token states for a deactivation by a feedback list.
    private static let reason = "listed by the feedback service"

    private let store: any DeviceStore & FeedbackStore
    private let policy: TokenInvalidationPolicy
    private let time: any TimeSource

    package init(store: any DeviceStore & FeedbackStore, policy: TokenInvalidationPolicy, time: any TimeSource) {
        (self.store, self.policy, self.time) = (store, policy, time)
    }

    /// The progress of a feedback list that is applied in batches.
    package struct Reading: Sendable {
        package let target: AppEnvironment
        /// The numbers so far: of listed tokens, and of devices that were deactivated, kept or withheld.
        package internal(set) var counts = FeedbackCounts()
        /// The number of active devices of the environment before the first change, or `nil` while nothing has changed.
        var active: Int?
        /// The error that ended the list early, or `nil` if there was none.
        var error: (any Error)?

        package init(of target: AppEnvironment) { self.target = target }
    }

    /// Applies a batch of a list, and returns when the changes are on disk.
    ///
    /// A device that registered at the time of its entry or later stays active. If the breaker is open, all do.
    package func apply(_ tuples: [FeedbackTuple], to reading: inout Reading) async throws {
        let target = reading.target
        // If a token is listed more than once, the latest entry counts.
        let times = Dictionary(tuples.map { ($0.token, $0.timestamp) }, uniquingKeysWith: max)
        let devices = try await self.store.activeDevices(of: target, tokens: Array(times.keys))
        let known = Set(devices.map(\.token))
        var counts = FeedbackCounts()
        counts.tokens = tuples.count
        counts.unknown = times.keys.count { !known.contains($0) }
        let dead = Set(
            devices.filter { device in times[device.token].map { device.registeredAt < $0 } ?? false }.map(\.id)
        )
        counts.kept = devices.count - dead.count
        let now = self.time.recorded
        var isBreakerOpen = false
        if !dead.isEmpty {
            isBreakerOpen = try await self.isBreakerOpen(for: dead.count, &reading, now: now)
            if isBreakerOpen { counts.withheld = dead.count } else { counts.deactivated = dead.count }
        }
        let changes = devices.compactMap { device -> TokenStateChange? in
            guard let since = times[device.token] else { return nil }
            // The store keeps devices active that have registered since, and records it.
            let isWithheld = isBreakerOpen && dead.contains(device.id)
            let kind: TokenStateChange.Kind = isWithheld ? .withheld(since: since) : .deactivated(since: since)
            return TokenStateChange(device: device.id, kind: kind, reason: Self.reason, token: device.token)
        }
        try await self.store.apply(changes, of: target, now: now)
        reading.counts.add(counts)
    }

    /// Returns whether the breaker is open, after evaluating all entries of the list so far.
    private func isBreakerOpen(for dead: Int, _ reading: inout Reading, now: Timestamp) async throws -> Bool {
        let (app, environment) = (reading.target.app, reading.target.environment)
        let active: Int
        if let known = reading.active {
            active = known
        } else {
            active = try await self.store.count(app: app, audience: .everyone, environment: environment, kind: nil)
            reading.active = active
        }
        let evaluation = await self.policy.evaluate(
            feedback: reading.counts.deactivated + reading.counts.withheld + dead,
            of: active,
            app: app,
            environment: environment,
            now: now
        )
        return evaluation.isBreakerOpen
    }
}
