package import Foundation
package import PushTypes

/// A node of a push component (XEP-0357): the address to which a chat server publishes for an installation or a user.
package struct XMPPNodeRecord: Hashable, Sendable {
    /// The maximum number of nodes of an installation or a user. A further one replaces the oldest.
    package static let maximumPerOwner = 20
    /// The maximum length of ``account``, in bytes. A request with a longer one is rejected.
    package static let maximumAccount = 64

    /// The recipient of the pushes for a node.
    package enum Owner: Hashable, Sendable {
        case installation(String)
        case user(String)
    }

    /// The name of the node, unique among the nodes of all apps.
    package var node: String
    package var app: Int64
    /// The domain of the component, which is the name of its bridge.
    package var component: String
    /// The SHA-256 of the secret that each publish request contains.
    package var secretHash: Data
    package var owner: Owner
    /// The domain of the chat account. Only the server of this domain may publish.
    package var domain: String
    /// The app's name for the chat account, which each push contains, or `nil` for none.
    package var account: String?
    package var createdAt: Timestamp

    package init(
        node: String,
        app: Int64,
        component: String,
        secretHash: Data,
        owner: Owner,
        domain: String,
        account: String? = nil,
        createdAt: Timestamp
    ) {
        (self.node, self.app, self.component, self.secretHash) = (node, app, component, secretHash)
        (self.owner, self.domain, self.account, self.createdAt) = (owner, domain, account, createdAt)
    }
}
