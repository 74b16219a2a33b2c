/// The address to which the server of a chat account reports what comes while the app is away (XEP-0357).
///
/// Keep it with the account: the provider shows the secret once.
public struct XMPPPushAddress: Hashable, Sendable, Codable {
    /// The push component, to which the server publishes.
    public let jid: String
    public let node: String
    /// The proof of the server that the account's owner wants it.
    public let secret: String

    /// Makes an address from parts that the app has kept.
    public init(jid: String, node: String, secret: String) {
        (self.jid, self.node, self.secret) = (jid, node, secret)
    }

    /// Returns the stanza with which the account's client asks its server to report, for the client to send on its stream.
    ///
    /// The server remembers it. Send it again after each login, in case that the server has ended the registration.
    /// - Parameter id: The id of the request, without which servers refuse it.
    public func enableStanza(id: String) -> String {
        let options = "http://jabber.org/protocol/pubsub#publish-options"
        return """
            <iq type='set' id='\(Self.escaped(id))'>\
            <enable xmlns='urn:xmpp:push:0' jid='\(Self.escaped(self.jid))' node='\(Self.escaped(self.node))'>\
            <x xmlns='jabber:x:data' type='submit'><field var='FORM_TYPE'><value>\(options)</value></field>\
            <field var='secret'><value>\(Self.escaped(self.secret))</value></field></x></enable></iq>
            """
    }

    /// Returns the stanza with which the client asks its server to report no more.
    /// - Parameter id: The id of the request.
    public func disableStanza(id: String) -> String {
        """
        <iq type='set' id='\(Self.escaped(id))'>\
        <disable xmlns='urn:xmpp:push:0' jid='\(Self.escaped(self.jid))' node='\(Self.escaped(self.node))'/></iq>
        """
    }

    /// Returns text as XML has it. A mark of XML is one before a combining character too.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { output, character in
            switch character {
            case "&": output += "&amp;"
            case "<": output += "&lt;"
            case ">": output += "&gt;"
            case "'": output += "&apos;"
            default: output.unicodeScalars.append(character)
            }
        }
    }
}
