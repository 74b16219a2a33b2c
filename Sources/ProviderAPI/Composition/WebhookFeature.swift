import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import ServiceLifecycle

/// The feature for webhooks, and for receipts, which are among the events that webhooks receive.
struct WebhookFeature: ProviderFeature {
    let delivery: WebhookDelivery
    let services: [any Service]
    let controllers: [any Controller<APIScope>]

    init(_ core: ProviderCore) {
        let (store, configuration) = (core.store, core.configuration)
        let delivery = Self.delivery(core)
        let receipts = ReceiptWriter(
            store: store,
            events: core.webhookWake,
            limits: core.configuration.receipts,
            places: core.budgets[.receipts],
            metrics: core.metrics,
            time: core.time
        )
        self.delivery = delivery
        var services = [core.nodes.exclusive(delivery, .webhooks)]
        if let gateway = configuration.gatewayEvents {
            let reader = GatewayReceiptReader(gateway: gateway, store: store, writer: receipts, logger: core.logger)
            services.append(core.nodes.exclusive(reader, .receipts))
        }
        self.services = services
        self.controllers = [
            WebhooksController(
                store: store,
                addresses: configuration.webhookAddresses,
                wake: core.webhookWake,
                interrupt: { await delivery.interrupt($0) },
                postTest: { await delivery.test($0, app: $1) },
                time: core.time
            ),
            WebhookDeliveriesController(store: store), ReceiptsController(store: store, writer: receipts),
        ]
    }

    private static func delivery(_ core: ProviderCore) -> WebhookDelivery {
        let store = core.store
        var limits = core.configuration.webhooks
        limits.deadline = core.configuration.limits.peer
        return WebhookDelivery(
            store: store,
            bundleID: { try await store.app(id: $0)?.bundleID },
            wake: core.webhookWake,
            addresses: core.configuration.webhookAddresses,
            limits: limits,
            places: core.budgets[.webhookPosts],
            retries: core.budgets[.webhookRetries],
            resolver: core.resolver,
            metrics: core.metrics,
            time: core.time,
            logger: core.logger
        )
    }
}
