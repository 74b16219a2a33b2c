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
    private let matrix: MatrixRoutes

    package init(_ parts: ProviderParts) {
        self.parts = parts
        self.controllers = [BridgesController(store: parts.store, time: parts.time)]
        self.services = []
        self.matrix = MatrixRoutes(MatrixGateway(parts, forwarder: nil), parts)
    }

    package func addRoutes(to router: Router<APIContext>) {
        self.matrix.addRoutes(to: router)
    }
}
