package import Hummingbird
package import ProviderAPI
package import ProviderModel
package import PushHTTP
package import PushSupport
package import ServiceLifecycle

/// The bridges of a provider, which translate other systems' protocols into notifications.
package struct Bridges: ProviderExtension {
    /// The kinds of bridges, in the order in which the API lists them.
    static let all: [any BridgeFeature.Type] = [
        MatrixBridge.self, XMPPBridge.self, GorushBridge.self, FCMBridge.self, WebPushBridge.self, BinaryBridge.self,
        SessionBridge.self,
    ]

    package let controllers: [any Controller<APIScope>]
    package let services: [any Service]
    private let features: [any BridgeFeature]

    /// Creates the bridges of a provider. Throws an error if the TLS files or the certificate authorities of the bridge
    /// for legacy providers cannot be used.
    package init(_ parts: ProviderComponents, _ configuration: BridgesConfiguration = BridgesConfiguration()) throws {
        parts.metrics.describe(Self.all.flatMap { $0.metrics })
        let components = BridgeComponents(parts, configuration)
        let features = try Self.all.map { try $0.init(components) }
        self.features = features
        self.controllers =
            [
                BridgesController(
                    store: parts.store,
                    addresses: parts.configuration.webhookAddresses,
                    time: parts.time,
                    logger: parts.logger
                ), ShadowController(store: parts.store),
            ] + features.flatMap { $0.controllers }
        self.services = features.flatMap { $0.services }
    }

    package func addRoutes(to router: Router<APIContext>) {
        for feature in self.features { feature.addRoutes(to: router) }
    }

    package func erasureBegan() {
        for feature in self.features { feature.erasureBegan() }
    }

    /// The service of the bridge for legacy providers, or `nil` if ``BridgesConfiguration/binary`` is `nil`.
    package var binary: BinaryBridgeService? { self.features.lazy.compactMap { $0 as? BinaryBridge }.first?.service }

    /// Returns the implementation of a kind of bridge, or `nil` for an unknown kind.
    static func feature(_ kind: BridgeKind) -> (any BridgeFeature.Type)? { Self.all.first { $0.kind == kind } }
}

extension BridgeKind: JSONRepresentable {
    package static var schema: Schema { .choice(Bridges.all.map { $0.kind.rawValue }) }
    package var json: JSONValue { .string(self.rawValue) }
}
