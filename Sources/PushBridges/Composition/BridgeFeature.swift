import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import ServiceLifecycle

/// A kind of bridge, with its services and routes.
///
/// Each conforming type is in a folder of its own and listed in ``Bridges/all``. It determines the operations and
/// routes with their descriptions, the validation of settings and secrets, the services, and the help texts of metrics.
protocol BridgeFeature: ProviderExtension {
    static var kind: BridgeKind { get }
    /// The type of a bridge's settings, or `nil` for a kind that ``BridgesController`` does not configure.
    static var settings: (any BridgeSettings.Type)? { get }
    /// A Boolean value that indicates whether clients of a bridge have its secret in their URLs, where attackers may
    /// try to guess it. A new secret must then have at least ``BridgeAuthenticator/goodSecret`` bytes.
    static var hasSecretInURL: Bool { get }
    /// The names and the help texts of the bridge's metrics, for `/metrics`.
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
