/// The address of a push service as options name it: a name, or HOST:PORT with an IPv6 address in brackets.
struct ServiceAddress {
    /// The name or address, without brackets.
    let host: String
    /// `nil` for a name alone.
    let port: Int?

    /// Returns `nil` for an empty host, a URL, or a port that is not a number from 1 to 65,535.
    init?(_ text: String) {
        guard !text.contains(where: { $0 == "/" || $0 == "@" || $0.isWhitespace }) else { return nil }
        guard let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") else {
            self.host = Self.withoutBrackets(text[...])
            self.port = nil
            return
        }
        guard colon > text.startIndex, let port = Int(text[text.index(after: colon)...]), (1...65_535).contains(port)
        else { return nil }
        self.host = Self.withoutBrackets(text[..<colon])
        self.port = port
    }

    /// Returns an IPv6 address without its brackets.
    private static func withoutBrackets(_ host: Substring) -> String {
        String(host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host)
    }
}
