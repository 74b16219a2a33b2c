import ProviderModel
package import PushSupport

/// The URL of a webhook or another server, parsed by strict rules, so that other parsers find the same host in it.
package struct WebhookAddress: Hashable, Sendable {
    /// The maximum length of a URL, in bytes. A longer one is rejected.
    package static let maximumLength = Member.maximumURL

    package let isSecure: Bool
    /// The host: a name or IPv4 address in lower case, or an IPv6 address without brackets.
    package let host: String
    /// The host as an IP address, or `nil` if it is a name.
    package let literal: IPAddress?
    package let port: Int
    /// The path and the query. It begins with a slash.
    package let target: String

    /// The URL in its canonical form.
    package var url: String { self.origin + self.target }

    /// The URL up to the path: scheme, host and port.
    package var origin: String {
        let host = self.host.contains(":") ? "[\(self.host)]" : self.host
        return "\(self.isSecure ? "https" : "http")://\(host):\(self.port)"
    }

    /// Parses a URL and checks everything that requires no look-up of its host name.
    /// - Throws: ``RequestError`` that names the member `url`.
    package init(_ text: String, policy: AddressPolicy) throws(RequestError) {
        guard text.utf8.count <= Self.maximumLength
        else { throw Self.error("too_long", "at most \(Self.maximumLength) bytes, not \(text.utf8.count)") }
        guard text.utf8.allSatisfy(Self.isPlain) else {
            throw Self.error(
                "invalid_value",
                "write it in ASCII, without spaces, backslashes, angle brackets and fragment"
            )
        }
        let rest: Substring
        if let found = Self.rest(of: text, after: "https://") {
            (self.isSecure, rest) = (true, found)
        } else if let found = Self.rest(of: text, after: "http://") {
            guard policy.allowsHTTP else {
                throw Self.error(
                    "not_https",
                    "use https, or start the provider with --allow-http-webhooks (--allow-private-webhooks for its network)"
                )
            }
            (self.isSecure, rest) = (false, found)
        } else {
            throw Self.error("invalid_value", "write https://host/path")
        }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let (authority, target) = (rest[..<end], rest[end...])
        guard !target.contains(where: { "[]".contains($0) })
        else { throw Self.error("invalid_value", "write brackets in path and query as %5B and %5D") }
        guard !authority.contains("@")
        else { throw Self.error("credentials_in_url", "leave user and password out: posts are signed") }
        let (host, port) = try Self.split(authority)
        self.target = target.hasPrefix("/") ? String(target) : "/" + target
        self.port = port ?? (self.isSecure ? 443 : 80)
        guard policy.allows(port: self.port)
        else {
            let message = "use port 80, 443 or one above 1023, or start the provider with \(Self.hint)"
            throw Self.error("port_not_allowed", message)
        }
        (self.host, self.literal) = try Self.host(host)
        guard self.literal.map(policy.allows) ?? (policy.allowsPrivate || !Self.isLocal(self.host))
        else {
            throw Self.error(
                "address_not_allowed",
                "private and reserved addresses need a provider that was started with --allow-private-webhooks"
            )
        }
    }

    /// The command-line option that allows private addresses, for error messages.
    static let hint = "--allow-private-webhooks"

    /// Splits an authority into the host, in brackets if it is IPv6, and the port, which is `nil` if it is absent.
    private static func split(_ authority: Substring) throws(RequestError) -> (host: Substring, port: Int?) {
        let colon = authority.lastIndex(of: ":")
        guard let colon, authority.last != "]" else { return (authority, nil) }
        let digits = authority[authority.index(after: colon)...]
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }),
            let port = Int(digits)
        else { throw self.error("invalid_value", "the port must be a number") }
        return (authority[..<colon], port)
    }

    private static func host(_ text: Substring) throws(RequestError) -> (String, IPAddress?) {
        if text.hasPrefix("["), text.hasSuffix("]") {
            let inner = String(text.dropFirst().dropLast())
            guard let address = IPAddress(inner), address.bytes.count == 16
            else { throw self.error("invalid_value", "that is not an IPv6 address") }
            return (address.description, address)
        }
        let name = text.lowercased()
        if let address = IPAddress(name), address.bytes.count == 4 { return (address.description, address) }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard name.utf8.count <= 253, labels.allSatisfy(self.isLabel)
        else { throw self.error("invalid_value", "that is not a host name") }
        // A host that ends with a number is refused: resolvers read 127.1, 2130706433 and 0x7f000001 as addresses.
        guard labels.last?.utf8.first.map({ !(48...57).contains($0) }) == true
        else { throw self.error("invalid_value", "write an IPv4 address as four decimal numbers") }
        return (name, nil)
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count)
            && label.utf8.allSatisfy { $0.isAlphanumeric || "-_".utf8.contains($0) }
    }

    /// Returns whether a name always stands for the local host (RFC 6761 section 6.3).
    private static func isLocal(_ name: String) -> Bool { name == "localhost" || name.hasSuffix(".localhost") }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x21...0x7e).contains(byte) && !"\\\"<>^`{|}#".utf8.contains(byte)
    }

    private static func rest(of text: String, after scheme: String) -> Substring? {
        guard text.prefix(scheme.count).lowercased() == scheme else { return nil }
        return text.dropFirst(scheme.count)
    }

    private static func error(_ code: String, _ message: String) -> RequestError {
        RequestError(.invalid, code: code, message: message, path: "url")
    }
}
