import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import ServiceLifecycle

extension BridgeKind {
    /// The kind of bridge that is an XMPP push component (XEP-0114, XEP-0357). Its name is the component's domain.
    static let xmpp = BridgeKind("xmpp")
}

/// The bridge for push components, which connect to XMPP servers on behalf of apps.
struct XMPPBridge: BridgeFeature {
    static let kind = BridgeKind.xmpp
    static let settings: (any BridgeSettings.Type)? = ComponentSettings.self
    static let metrics = [
        MetricDescription("martlet_xmpp_publishes_total", "Publishes of XMPP servers, by answer."),
        MetricDescription("martlet_xmpp_connections_total", "Connections to XMPP servers, by result."),
    ]

    let controllers: [any Controller<APIScope>]
    let services: [any Service]

    init(_ components: BridgeComponents) {
        let provider = components.provider
        self.controllers = [XMPPNodesController(store: provider.store, time: provider.time)]
        self.services = [provider.nodes.exclusive(ComponentService(provider), .xmppComponents)]
    }
}
