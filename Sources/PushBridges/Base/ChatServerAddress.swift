package import PushProvider
package import PushSupport

/// The address of a chat server that an API caller has named. The rules for webhook addresses apply to it.
package struct ChatServerAddress: Hashable, Sendable {
    /// The host: a name or an IPv4 address in lower case, or an IPv6 address without brackets.
    package let host: String
    package let port: Int
    /// The IP address, or `nil` if the host is a name.
    package let literal: IPAddress?

    /// Checks the host and the port by the rules of `policy`, without resolving the name.
    /// - Throws: ``RequestError`` that names the member `server` or `port`.
    package init(host: String, port: Int, policy: AddressPolicy) throws(RequestError) {
        guard policy.allows(port: port), port != 80 else {
            throw RequestError(
                .invalid,
                code: "port_not_allowed",
                message: "use a port above 1023, or 443",
                path: "port"
            )
        }
        let authority = host.contains(":") ? "[\(host)]" : host
        guard !host.contains(where: { "/?#@[]".contains($0) }) else {
            throw RequestError.invalid("server", "write the name of the server alone")
        }
        do {
            let address = try WebhookAddress("https://\(authority):\(port)/", policy: policy)
            (self.host, self.port, self.literal) = (address.host, port, address.literal)
        } catch {
            throw RequestError(.invalid, code: error.code, message: error.message, path: "server")
        }
    }
}
