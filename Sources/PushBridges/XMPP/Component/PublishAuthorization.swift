import Crypto
import Foundation
import ProviderModel

/// The decision whether a publish, a server's request to push, is allowed. It depends on the stored node.
enum PublishAuthorization: Hashable, Sendable {
    case allowed(XMPPNodeRecord)
    case refused(StanzaError)

    /// Allows a publish with the node's secret from the node's domain. Refuses any other.
    /// - Parameter node: The stored node that the publish names, or `nil` if that node does not exist.
    init(_ publish: PushPublish, from sender: JabberAddress, over bridge: ConfiguredComponent, _ node: XMPPNodeRecord?)
    {
        guard let node, node.app == bridge.app, node.component == bridge.name else {
            self = .refused(.itemNotFound)
            return
        }
        // The comparison need not take constant time, because senders cannot choose the digests.
        let isProven = Data(SHA256.hash(data: Data(publish.secret.utf8))) == node.secretHash
        self = isProven && sender.domain == node.domain ? .allowed(node) : .refused(.forbidden)
    }
}
