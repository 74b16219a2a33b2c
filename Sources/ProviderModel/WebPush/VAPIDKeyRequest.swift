package import PushSupport
package import PushWire

/// The requests that set and renew the key by which an app identifies itself to browsers' push services (RFC 8292).
package enum VAPIDKeyRequest {
    package static let key = Member.text("privateKey", 1...1024)
        .described("32 bytes in base64url, or PEM: the key of another server. Default a new one.")
        .parsed("invalid_value", "a private key of P-256: base64url of 32 bytes, or PEM") { VAPIDKey(text: $0) }
    package static let set = RequestObject(required: [Self.contact], optional: [Self.key])
    package static let rotate = RequestObject(optional: [Self.key])

    /// The member with the contact. A contact that some push service would reject is invalid.
    package static let contact = Member.text("contact", 1...200, pattern: "^(mailto:|https://).+$")
        .described("Whom a push service can turn to: a mailto: URL, or an https: URL.")
        .checked(
            "invalid_value",
            "use mailto:name@domain or https://domain with a domain of the internet: Apple rejects others"
        ) { text in Self.host(of: text).map { Self.isPublic($0) } ?? false }

    private static func host(of text: String) -> Substring? {
        guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
        if text.lowercased().hasPrefix("mailto:") {
            let parts = text.dropFirst("mailto:".count).split(separator: "@", omittingEmptySubsequences: false)
            return parts.count == 2 && !parts[0].isEmpty ? parts[1] : nil
        }
        guard text.lowercased().hasPrefix("https://") else { return nil }
        return text.dropFirst("https://".count).prefix { !"/?#:".contains($0) }
    }

    private static func isPublic(_ host: Substring) -> Bool {
        let labels = host.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        let isName = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "-") }
        }
        guard isName, labels.count >= 2, let last = labels.last else { return false }
        return last.utf8.contains { !(48...57).contains($0) } && !["localhost", "local", "invalid"].contains(last)
    }
}
