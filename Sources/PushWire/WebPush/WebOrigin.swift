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
            if authority.hasSuffix(port) { authority = authority.dropLast(port.count) }
            guard !authority.isEmpty, authority.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
                !authority.contains("@"), !authority.contains(",")
            else { return nil }
            self.description = scheme + authority
            return
        }
        return nil
    }
}
