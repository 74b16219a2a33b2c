import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import ServiceLifecycle

extension BridgeKind {
    /// The kind of bridge that receives Web Push messages for installations. Its only bridge has the name `receive`.
    static let webPush = BridgeKind("webpush")
}

/// The bridge for push resources: addresses to which senders post Web Push messages for an app installation.
struct WebPushBridge: BridgeFeature {
    static let kind = BridgeKind.webPush

    let controllers: [any Controller<APIScope>]
    let services: [any Service]
    private let routes: WebPushRoutes

    init(_ components: BridgeComponents) {
        let provider = components.provider
        let (store, configuration) = (provider.store, provider.configuration)
        let origins = PushOrigins(configured: configuration.publicOrigin, isSecure: configuration.tls != nil)
        self.controllers = [PushResourcesController(store: store, origins: origins, time: provider.time)]
        let cleaner = PushResourceCleaner(
            store: store,
            client: components.strangersClient,
            forwards: provider.budgets[.forwards],
            time: provider.time,
            logger: provider.logger
        )
        self.services = [provider.nodes.exclusive(cleaner, .pushResources)]
        self.routes = WebPushRoutes(
            store: store,
            acceptor: provider.acceptor,
            runner: provider.runner,
            origins: origins,
            budgets: provider.budgets,
            addresses: configuration.webhookAddresses,
            time: provider.time
        )
    }

    func addRoutes(to router: Router<APIContext>) { self.routes.addRoutes(to: router) }
}
