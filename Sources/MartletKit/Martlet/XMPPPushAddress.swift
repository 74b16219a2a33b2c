/// The address to which a chat account's server reports messages while the app is offline (XEP-0357). Store it with the
/// account, because the provider returns the secret only once.
public struct XMPPPushAddress: Hashable, Sendable, Codable {
    /// The JID of the push component to which the account's server publishes.
    public let jid: String
    public let node: String
    /// The secret with which the server proves that the account's owner has agreed.
    public let secret: String

    /// Creates an address from the values that the app has stored: the JID of the push component, the name of its node,
    /// and the secret.
    public init(jid: String, node: String, secret: String) { (self.jid, self.node, self.secret) = (jid, node, secret) }

    /// Returns the stanza that enables reports from the server. The account's client sends it on its stream.
    ///
    /// The server remembers the registration. Send the stanza again after each login, in case the server has removed
    /// the registration.
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

    /// Returns the stanza that disables reports from the server.
    /// - Parameter id: The id of the request, without which servers refuse it.
    public func disableStanza(id: String) -> String {
        """
        <iq type='set' id='\(Self.escaped(id))'>\
        <disable xmlns='urn:xmpp:push:0' jid='\(Self.escaped(self.jid))' node='\(Self.escaped(self.node))'/></iq>
        """
    }

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

extension Martlet {
    /// Creates an address for the server of a chat account. A failed request is not repeated automatically.
    ///
    /// The server's reports arrive as alerts whose text the extension adds, or in the background. An installation has
    /// at most 20 addresses. A further one replaces the oldest.
    /// - Parameters:
    ///   - domain: The domain of the account: `example.com` of `ada@example.com`.
    ///   - account: The app's name for the account, which each push contains, or `nil` for none.
    /// - Throws: ``InstallationError`` if the request fails.
    public func xmppPushAddress(
        domain: String,
        account: String? = nil
    ) async throws(InstallationError) -> XMPPPushAddress {
        var body: [String: JSONValue] = ["domain": .string(domain)]
        body["account"] = account.map { .string($0) }
        let members = try await self.members("POST", "xmpp-nodes", body: body)
        guard let jid = members["jid"]?.string, let node = members["node"]?.string,
            let secret = members["secret"]?.string
        else { throw .unavailable(reason: "the response has no address", retryAfter: nil) }
        return XMPPPushAddress(jid: jid, node: node, secret: secret)
    }

    /// Removes an address. The chat server drops its registration at its next report. Removing it again has no effect.
    /// - Throws: ``InstallationError`` if the request fails.
    public func removeXMPPPushAddress(_ address: XMPPPushAddress) async throws(InstallationError) {
        do throws(InstallationError) {
            _ = try await self.members("DELETE", "xmpp-nodes/\(address.node)")
        } catch .refused(code: "no_such_node", message: _) {
            return
        }
    }
}
