package import ProviderModel
package import PushStore
package import PushSupport

/// Builds timelines from the store, and from the gateway's events if a gateway is configured.
package struct TimelineReader: Sendable {
    private let store: any AppStore & NotificationStore & ReceiptStore & TimelineStore
    /// The client of the gateway, or `nil` if no gateway is configured.
    private let gateway: GatewayEventClient?
    private let faults: ConfigurationFaultTracker?
    private let time: any TimeSource

    /// Creates a reader. `faults` knows the pauses that hold recipients back, or `nil` to omit them.
    package init(
        store: any AppStore & NotificationStore & ReceiptStore & TimelineStore,
        gateway: GatewayEventClient?,
        faults: ConfigurationFaultTracker?,
        time: any TimeSource
    ) {
        (self.store, self.gateway, self.faults, self.time) = (store, gateway, faults, time)
    }

    /// Returns the timeline of a notification, or `nil` if it does not exist.
    package func timeline(of notification: NotificationRecord) async throws -> Timeline? {
        guard let history = try await self.store.history(of: notification.id) else { return nil }
        let app = try await self.store.app(id: notification.app)?.bundleID
        let facts = NotificationFacts(
            notification: notification,
            app: app,
            history: history,
            receipts: try await self.store.receiptCounts(of: notification.id)
        )
        return TimelineBuilder.timeline(of: facts)
    }

    /// Returns the timelines of recipients. Recipients that do not exist are omitted.
    package func timelines(of recipients: [RecipientKey]) async throws -> [Timeline] {
        var gateway = GatewayEventReader(of: self.gateway)
        var timelines: [Timeline] = []
        for recipient in recipients {
            guard var facts = try await self.facts(of: recipient) else { continue }
            let id = DeliveryID(notification: recipient.notification).text(recipient: recipient.recipient)
            facts.gateway = await gateway.reading(of: id)
            timelines.append(TimelineBuilder.timeline(of: facts))
        }
        return timelines
    }

    /// Returns the facts about a recipient, or `nil` if there is no such recipient.
    private func facts(of recipient: RecipientKey) async throws -> DeliveryFacts? {
        guard let notification = try await self.store.notification(recipient.notification),
            let history = try await self.store.history(of: notification.id, recipient: recipient.recipient)
        else { return nil }
        let isKnown = history.delivery != nil || !history.attempts.isEmpty || history.nextTryAt != nil
        let hasEnded = notification.progress.finishedAt != nil
        guard isKnown || !hasEnded || notification.isForgotten else { return nil }
        return DeliveryFacts(
            notification: notification,
            app: try await self.store.app(id: notification.app)?.bundleID,
            recipient: recipient.recipient,
            history: history,
            clocks: self.time.reading,
            pause: try await self.pause(notification.app, history.heldFor)
        )
    }

    /// Returns the pause that holds the next attempt back, or `nil` if none does any more. Of several pauses, it
    /// returns the one with the earliest probe.
    private func pause(_ app: Int64, _ held: HoldingEnvironments?) async throws -> EnvironmentStatus? {
        var pauses: [EnvironmentStatus] = []
        for environment in held?.environments ?? [] {
            let target = AppEnvironment(app: app, environment: environment)
            guard let status = try await self.faults?.status(of: target), status.isPaused else { continue }
            pauses.append(status)
        }
        return pauses.min { $0.nextProbeAt ?? .atOnce < $1.nextProbeAt ?? .atOnce }
    }
}

/// Reads a gateway's events for one request to the API.
///
/// All reads share one deadline, so that an unresponsive gateway delays a response with many timelines only once.
struct GatewayEventReader {
    private let gateway: GatewayEventClient?
    /// The time left until the shared deadline.
    private var rest: Duration
    /// The failure after which the gateway is not queried again, or `nil` if there was none.
    private var failure: String?

    /// Creates a reader for one request to the API. `gateway` is `nil` if none is configured.
    init(of gateway: GatewayEventClient?) {
        self.gateway = gateway
        self.rest = gateway?.deadline ?? .zero
    }

    /// Returns the events of a push. It never throws, because the timeline is also built without gateway events.
    mutating func reading(of apnsID: String) async -> GatewayFacts {
        guard let gateway else { return .off }
        if let failure { return .failed(failure) }
        let begin = ContinuousClock.now
        do {
            let events = try await gateway.events(apnsID: apnsID, within: self.rest)
            self.rest -= begin.duration(to: .now)
            return .events(events)
        } catch {
            self.failure = error.description
            return .failed(error.description)
        }
    }
}
