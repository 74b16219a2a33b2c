import Foundation

extension Martlet {
    /// Makes an address for the server of a chat account. Nothing is repeated: the app decides about when to ask again.
    ///
    /// What the server reports arrives as an alert that the extension fills in, or in the background. An installation has at most 20
    /// addresses; the oldest gives way.
    /// - Parameters:
    ///   - domain: The domain of the account: `example.com` of `ada@example.com`.
    ///   - account: The app's own name for the account, which each push shows; `nil` for none.
    /// - Throws: ``XMPPPushError``
    public func xmppPushAddress(
        domain: String,
        account: String? = nil
    ) async throws(XMPPPushError) -> XMPPPushAddress {
        let (installation, secret) = try self.provenInstallation()
        var body: [String: JSONValue] = ["domain": .string(domain)]
        body["account"] = account.map { .string($0) }
        let request = self.configuration.request(nodeWith: body, installation: installation, secret: secret)
        let members = try await self.members(of: request)
        guard let jid = members["jid"]?.string, let node = members["node"]?.string,
            let secret = members["secret"]?.string
        else { throw .unavailable(reason: "the response has no address", retryAfter: nil) }
        return XMPPPushAddress(jid: jid, node: node, secret: secret)
    }

    /// Removes an address: the server's next report ends the registration there. One that is gone already is removed.
    /// - Throws: ``XMPPPushError``
    public func removeXMPPPushAddress(_ address: XMPPPushAddress) async throws(XMPPPushError) {
        let (installation, secret) = try self.provenInstallation()
        let request = self.configuration.request(
            removing: address.node,
            installation: installation,
            secret: secret
        )
        do throws(XMPPPushError) {
            _ = try await self.members(of: request)
        } catch .refused(code: "no_such_node", message: _) {
            return
        }
    }

    /// Returns the installation with its secret.
    private func provenInstallation() throws(XMPPPushError) -> (UUID, String) {
        guard let state = self.state()?.state, let secret = state.secret, !state.isLeaving else { throw .notRegistered }
        return (state.installation, secret)
    }

    private func members(of request: TransportRequest) async throws(XMPPPushError) -> [String: JSONValue] {
        switch await self.exchange(request) {
        case .done(let members): return members
        case .later(let delay, let reason): throw .unavailable(reason: reason, retryAfter: delay)
        case .refused(let refusal): throw .refused(code: refusal.code, message: refusal.message)
        }
    }
}
