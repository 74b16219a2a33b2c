import Crypto
import Foundation
import PushStore

/// The authorization of a publish by what is stored of its node.
enum PublishAuthorization: Hashable, Sendable {
    case allowed(XMPPNodeRecord)
    case refused(StanzaError)

    /// - Parameter node: The stored node of that name; `nil` for none.
    init(_ publish: PushPublish, from sender: JabberAddress, over bridge: ComponentBridge, _ node: XMPPNodeRecord?) {
        guard let node, node.app == bridge.app, node.component == bridge.name else {
            self = .refused(.itemNotFound)
            return
        }
        // The digests may be compared in any time: nobody can choose them.
        let isProven = Data(SHA256.hash(data: Data(publish.secret.utf8))) == node.secretHash
        self = isProven && sender.domain == node.domain ? .allowed(node) : .refused(.forbidden)
    }
}
