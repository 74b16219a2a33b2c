package import Hummingbird
package import ProviderAPI
package import PushHTTP
import PushProvider
package import PushStore
import PushSupport
package import ServiceLifecycle

/// The bridges of a provider: other systems' protocols, translated into notifications.
package struct Bridges: ProviderExtension {
    package let controllers: [any Controller<APIScope>]
    package let services: [any Service]
    private let parts: ProviderParts

    package init(_ parts: ProviderParts) {
        self.parts = parts
        let sessions = ChatSessionService(parts)
        self.controllers = [
            BridgesController(store: parts.store, time: parts.time),
            ChatSessionsController(store: parts.store, service: sessions, time: parts.time),
        ]
        self.services = [sessions]
    }

    package func addRoutes(to router: Router<APIContext>) {}
}
