/// The ends of a stream of XMPP (RFC 6120 §4).
package enum XMPPStream {
    /// The namespace of the stream's own elements.
    package static let namespace = "http://etherx.jabber.org/streams"

    /// Returns the text that opens a stream.
    /// - Parameters:
    ///   - content: The default namespace, such as `jabber:client` or `jabber:component:accept`.
    ///   - attributes: The attributes of the header, such as `to` and `version`.
    package static func opening(content: String, attributes: [String: String]) -> String {
        let attributes = attributes.sorted { $0.key < $1.key }
            .map { " \($0.key)='\(XMLElement.escaped($0.value))'" }.joined()
        return "<?xml version='1.0'?><stream:stream xmlns='\(content)' xmlns:stream='\(Self.namespace)'\(attributes)>"
    }

    /// The text that closes a stream.
    package static let closing = "</stream:stream>"
}
