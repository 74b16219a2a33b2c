import Logging
import Metrics
import PushProvider
import PushStore
import PushSupport

extension ProviderServer {
    /// Makes the one way into the ledger. Counting the recipients takes a part of the time of a request.
    static func acceptor(
        _ configuration: ProviderConfiguration,
        store: SQLiteStore,
        wakes: LaneWakeSignals,
        direct: DirectDispatch,
        time: any TimeSource
    ) -> NotificationAcceptor {
        let budget = configuration.limits.request / 6
        return NotificationAcceptor(store: store, wakes: wakes, budget: budget, direct: direct, time: time)
    }

    /// Makes the senders to browsers.
    static func webPush(
        _ configuration: ProviderConfiguration,
        store: SQLiteStore,
        resolver: any NameResolver,
        time: any TimeSource
    ) -> WebPushSenders {
        var limits = WebPushLimits()
        limits.deadline = configuration.limits.peer
        limits.page = configuration.limits.peer * 4 / 5
        return WebPushSenders(
            store: store,
            addresses: configuration.webhookAddresses,
            resolver: resolver,
            limits: limits,
            time: time
        )
    }

    /// Makes the service that posts to webhooks.
    static func webhooks(
        _ configuration: ProviderConfiguration,
        store: SQLiteStore,
        wake: WakeSignal,
        resolver: any NameResolver,
        budgets: Budgets,
        metrics: any MetricsFactory,
        time: any TimeSource,
        logger: Logger
    ) -> WebhookDelivery {
        var limits = WebhookLimits()
        limits.deadline = configuration.limits.peer
        return WebhookDelivery(
            store: store,
            bundleID: { try await store.app(id: $0)?.bundleID },
            wake: wake,
            addresses: configuration.webhookAddresses,
            limits: limits,
            places: budgets[.webhookPosts],
            retries: budgets[.webhookRetries],
            resolver: resolver,
            metrics: metrics,
            time: time,
            logger: logger
        )
    }
}
