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
    private let pushDoor: PushDoor

    package init(_ parts: ProviderParts) {
        self.parts = parts
        let configuration = parts.configuration
        let origins = PushOrigins(configured: configuration.publicOrigin, isSecure: configuration.tls != nil)
        self.pushDoor = PushDoor(
            store: parts.store,
            acceptor: parts.acceptor,
            runner: parts.runner,
            origins: origins,
            rates: PushDoorRates(addressRate: configuration.limits.keyRate, clock: parts.time.instants),
            addresses: configuration.webhookAddresses,
            time: parts.time
        )
        self.controllers = [
            BridgesController(store: parts.store, time: parts.time),
            PushResourcesController(store: parts.store, origins: origins, time: parts.time),
        ]
        self.services = [
            PushResourceCleaner(
                store: parts.store,
                client: GuardedRequest(addresses: configuration.webhookAddresses),
                time: parts.time,
                logger: parts.logger
            )
        ]
    }

    package func addRoutes(to router: Router<APIContext>) { self.pushDoor.addRoutes(to: router) }
}
