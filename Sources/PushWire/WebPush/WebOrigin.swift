/// The origin of a URL: scheme, host and port (RFC 6454).
package struct WebOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The longest text that is read, in bytes.
    private static let maximumLength = 512

    /// The text, such as `https://push.example.org`, in lower case and without the port of the scheme.
    package let description: String

    /// Reads the origin of a URL with the scheme `https` or `http`; `nil` for any other text.
    package init?(_ url: some StringProtocol) {
        let lowered = url.prefix(Self.maximumLength).lowercased()
        for (scheme, port) in [("https://", ":443"), ("http://", ":80")] where lowered.hasPrefix(scheme) {
            let rest = lowered.dropFirst(scheme.count)
            var authority = rest.prefix { !"/?#".contains($0) }
            guard authority.utf8.allSatisfy({ (0x21...0x7e).contains($0) }), !authority.contains("@"),
                !authority.contains(","), Self.isHostAndPort(authority)
            else { return nil }
            if authority.hasSuffix(port) { authority = authority.dropLast(port.count) }
            self.description = scheme + authority
            return
        }
        return nil
    }

    /// Returns `true` for a host, in brackets if it has colons itself, and a port of five digits at most, or none.
    private static func isHostAndPort(_ text: Substring) -> Bool {
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return false }
            rest = text[end...].dropFirst()
        } else {
            rest = text.drop { $0 != ":" }
        }
        guard rest.count < text.count else { return false }
        let digits = rest.dropFirst()
        return rest.isEmpty
            || rest.first == ":" && (1...5).contains(digits.count) && digits.allSatisfy { ("0"..."9").contains($0) }
    }
}
