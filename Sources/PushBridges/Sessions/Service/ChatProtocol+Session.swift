import PushHTTP
package import PushStore

extension ChatProtocol {
    /// The machine of the protocol.
    package var session: any ChatSession.Type {
        switch self {
        case .irc: IRCSession.self
        case .xmpp: XMPPSession.self
        }
    }
}

extension ChatProtocol: JSONRepresentable {}
