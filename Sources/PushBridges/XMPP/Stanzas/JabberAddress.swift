/// An XMPP address, `local@domain/resource`. Only the domain is required (RFC 7622).
struct JabberAddress: Hashable, Sendable {
    /// The maximum length of the local part, the domain and the resource, in bytes each. A longer one is invalid.
    static let maximumPart = 1023

    var local: String?
    var domain: String
    var resource: String?

    /// Parses an address. Returns `nil` if the string is not a valid one.
    init?(_ text: String) {
        guard text.utf8.count <= 3 * Self.maximumPart + 2 else { return nil }
        var rest = text[...]
        if let slash = rest.firstIndex(of: "/") {
            self.resource = String(rest[rest.index(after: slash)...])
            rest = rest[..<slash]
        }
        if let at = rest.firstIndex(of: "@") {
            self.local = String(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        self.domain = rest.lowercased()
        let parts = [self.local, self.domain, self.resource].compactMap(\.self)
        guard parts.allSatisfy({ (1...Self.maximumPart).contains($0.utf8.count) }), Self.isDomain(self.domain) else {
            return nil
        }
    }

    var bare: String { self.local.map { "\($0)@\(self.domain)" } ?? self.domain }

    /// Returns whether a string can be a domain: it has no delimiters of addresses and no characters reserved in XML.
    static func isDomain(_ text: String) -> Bool {
        (1...Self.maximumPart).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy {
                $0.value > 0x20 && $0.value != 0x7f && !"@/\"&'<>".unicodeScalars.contains($0)
            }
    }
}
