import PushSupport

/// The account of a session at an XMPP server: a bare JID (RFC 7622).
struct XMPPAccount: Hashable, Sendable {
    /// The longest address, in bytes.
    private static let maximumAddress = 3071

    let name: String
    /// The name in the server's certificate.
    let domain: String
    /// The address in lower case, by which others are compared with it.
    private let folded: String

    /// - Throws: ``RequestError`` that names the member `account`.
    init(_ text: String) throws(RequestError) {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar.value > 0x20 && scalar.value != 0x7f && !"/\"&'<>:".unicodeScalars.contains(scalar)
        }
        guard parts.count == 2, isPlain, (1...1023).contains(parts[0].utf8.count),
            (1...253).contains(parts[1].utf8.count)
        else {
            let message = "write the address as name@domain, without resource"
            throw RequestError(.invalid, code: "invalid_value", message: message, path: "account")
        }
        (self.name, self.domain, self.folded) = (String(parts[0]), parts[1].lowercased(), text.lowercased())
    }

    var bare: String { "\(self.name)@\(self.domain)" }

    /// Returns `true` for an address of the account, with or without a resource.
    func owns(_ address: String) -> Bool {
        address.utf8.count <= Self.maximumAddress && Self.bare(address).lowercased() == self.folded
    }

    /// Returns an address without its resource.
    static func bare(_ address: String) -> String { String(address.prefix { $0 != "/" }) }
}
