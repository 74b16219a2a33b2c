import Hummingbird
import ProviderModel
import PushHTTP
import ServiceLifecycle

/// A kind of bridge, with the services and routes that a provider has for it.
///
/// It is declared by a type in a folder of its own, and by that type's place in ``Bridges/all``. These determine the
/// operations and routes with their descriptions, the check of settings and secrets, the services, and the help texts
/// of metrics.
protocol BridgeFeature: ProviderExtension {
    static var kind: BridgeKind { get }
    /// The settings of a bridge, or `nil` for a kind that ``BridgesController`` does not configure.
    static var settings: (any BridgeSettings.Type)? { get }
    /// Indicates whether the secret of a bridge is in the URLs of its clients, where it can be attacked by guessing.
    static var hasSecretInURL: Bool { get }
    /// The help texts of the bridge's metrics.
    static var metrics: [MetricDescription] { get }

    init(_ components: BridgeComponents) throws
}

extension BridgeFeature {
    static var settings: (any BridgeSettings.Type)? { nil }
    static var hasSecretInURL: Bool { false }
    static var metrics: [MetricDescription] { [] }

    var controllers: [any Controller<APIScope>] { [] }
    var services: [any Service] { [] }

    func addRoutes(to router: Router<APIContext>) {}
}
