import Foundation

extension Martlet {
    /// Makes an address for the server of a chat account. Nothing is repeated: the app decides about when to ask again.
    ///
    /// What the server reports arrives as an alert that the extension fills in, or in the background. An installation has at most 20
    /// addresses; the oldest gives way.
    /// - Parameters:
    ///   - domain: The domain of the account: `example.com` of `ada@example.com`.
    ///   - account: The app's own name for the account, which each push shows; `nil` for none.
    /// - Throws: ``InstallationError``
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

    /// Removes an address: the server's next report ends the registration there. One that is gone already is removed.
    /// - Throws: ``InstallationError``
    public func removeXMPPPushAddress(_ address: XMPPPushAddress) async throws(InstallationError) {
        do throws(InstallationError) {
            _ = try await self.members("DELETE", "xmpp-nodes/\(address.node)")
        } catch .refused(code: "no_such_node", message: _) {
            return
        }
    }
}
