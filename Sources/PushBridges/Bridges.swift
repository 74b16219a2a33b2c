package import Hummingbird
package import ProviderAPI
package import ProviderModel
package import PushHTTP
import PushProvider
package import PushStore
import PushSupport
package import ServiceLifecycle

/// The bridges of a provider, which translate other systems' protocols into notifications.
package struct Bridges: ProviderExtension {
    package let controllers: [any Controller<APIScope>]
    package let services: [any Service]
    /// The legacy bridge, or `nil` without its listeners.
    package let binary: BinaryBridgeService?
    private let pushServerRoutes: PushServerRoutes
    private let matrix: MatrixRoutes
    private let webPushRoutes: WebPushRoutes
    private let sessions: ChatSessionService

    /// - Parameter binary: The listeners for old providers, or `nil` for none.
    /// - Throws: An error of certificates that cannot be used.
    package init(_ parts: ProviderComponents, binary: BinaryBridgeConfiguration? = nil) throws {
        let (configuration, store, time) = (parts.configuration, parts.store, parts.time)
        let origins = PushOrigins(configured: configuration.publicOrigin, isSecure: configuration.tls != nil)
        let binary = try binary.map { try BinaryBridgeService($0, parts) }
        let clients = { (source: HostNameSource) in
            RestrictedHTTPClient(
                addresses: configuration.webhookAddresses,
                resolver: parts.resolver,
                source: source,
                deadline: configuration.limits.peer
            )
        }
        let strangers = clients(.strangers)
        let pushServerRoutes = PushServerRoutes(parts, client: clients(.settings))
        let sessions = ChatSessionService(parts)
        self.binary = binary
        self.pushServerRoutes = pushServerRoutes
        self.sessions = sessions
        let forwarder = UnifiedPushForwarder(client: strangers, budgets: parts.budgets, time: time)
        self.matrix = MatrixRoutes(MatrixGateway(parts, forwarder: forwarder), parts)
        self.webPushRoutes = WebPushRoutes(
            store: store,
            acceptor: parts.acceptor,
            runner: parts.runner,
            origins: origins,
            budgets: parts.budgets,
            addresses: configuration.webhookAddresses,
            time: time
        )
        self.controllers = [
            BridgesController(
                store: store,
                addresses: configuration.webhookAddresses,
                time: time,
                logger: parts.logger
            ),
            ShadowController(store: store),
            PushResourcesController(store: store, origins: origins, time: time),
            XMPPNodesController(store: store, time: time),
            ChatSessionsController(store: store, service: sessions, time: time),
        ]
        let cleaner = PushResourceCleaner(
            store: store,
            client: strangers,
            forwards: parts.budgets[.forwards],
            time: time,
            logger: parts.logger
        )
        let own: [any Service] = [cleaner, ComponentService(parts), sessions]
        self.services = own + (binary.map { [$0] } ?? []) + pushServerRoutes.services
    }

    package func addRoutes(to router: Router<APIContext>) {
        self.matrix.addRoutes(to: router)
        self.webPushRoutes.addRoutes(to: router)
        self.pushServerRoutes.addRoutes(to: router)
    }

    /// Ends the chat sessions whose records are gone.
    package func erasureBegan() { self.sessions.refresh() }
}
