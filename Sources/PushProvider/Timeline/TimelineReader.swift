package import PushStore
package import PushSupport
import PushTypes

/// Reads timelines: what the store has, and the gateway's events where one is configured.
package struct TimelineReader: Sendable {
    /// The most events of a token that are searched for those of a notification.
    private static let maximumTokenEvents = 100

    private let store: any ProviderStore
    /// The gateway's events; `nil` where no gateway is configured.
    private let gateway: GatewayEvents?
    private let time: any TimeSource

    package init(store: any ProviderStore, gateway: GatewayEvents?, time: any TimeSource) {
        (self.store, self.gateway, self.time) = (store, gateway, time)
    }

    /// Returns the timeline of a notification; `nil` if it does not exist.
    package func timeline(of notification: NotificationRecord) async throws -> Timeline? {
        guard let history = try await self.store.history(of: notification.id) else { return nil }
        let app = try await self.store.app(id: notification.app)?.bundleID
        let facts = NotificationFacts(
            notification: notification,
            app: app,
            history: history,
            receipts: try await self.store.receiptCounts(of: notification.id),
            clocks: self.time.reading
        )
        return TimelineBuilder.timeline(of: facts)
    }

    /// Returns the timeline of a recipient of a notification; `nil` if there is no such recipient.
    package func timeline(of notification: NotificationRecord, recipient: Int64) async throws -> Timeline? {
        guard let common = try await self.store.history(of: notification.id),
            let history = try await self.store.history(of: notification.id, recipient: recipient)
        else { return nil }
        let isKnown = history.delivery != nil || !history.attempts.isEmpty || history.nextTryAt != nil
        let hasEnded = notification.progress.finishedAt != nil
        guard isKnown || !hasEnded || notification.isForgotten else { return nil }
        var facts = DeliveryFacts(
            notification: notification,
            app: try await self.store.app(id: notification.app)?.bundleID,
            recipient: recipient,
            common: common,
            history: history,
            clocks: self.time.reading
        )
        if let token = history.delivery?.token {
            facts.tokenEvents = try await self.store.tokenEvents(
                app: notification.app,
                token: token,
                action: nil,
                before: nil,
                limit: Self.maximumTokenEvents
            )
            .filter { $0.notification == notification.id }
        }
        if let gateway {
            let id = DeliveryID(notification: notification.id).text(recipient: recipient)
            facts.gateway = await gateway.reading(of: id)
        }
        return TimelineBuilder.timeline(of: facts)
    }
}
