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
    /// The legacy bridge; `nil` without its listeners.
    package let binary: BinaryBridgeService?
    private let parts: ProviderParts

    /// - Parameter binary: The listeners for old providers; `nil` for none.
    /// - Throws: An error of certificates that cannot be used.
    package init(_ parts: ProviderParts, binary: BinaryBridgeConfiguration? = nil) throws {
        self.parts = parts
        self.binary = try binary.map { try BinaryBridgeService($0, parts) }
        self.controllers = [BridgesController(store: parts.store, time: parts.time)]
        self.services = self.binary.map { [$0] } ?? []
    }

    package func addRoutes(to router: Router<APIContext>) {}
}
