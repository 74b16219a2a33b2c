import Foundation

/// A URL from which an attachment may be downloaded. The URL is checked byte by byte before Foundation parses it, so
/// that no two parsers can find different hosts in it.
struct AttachmentURL: Hashable, Sendable {
    /// The maximum length of a URL in bytes. A longer one is rejected as malformed.
    static let maximumLength = 2048

    let url: URL

    init(_ text: String, allowsLocalServers: Bool = false) throws(AttachmentError) {
        guard text.utf8.count <= Self.maximumLength, text.utf8.allSatisfy(\.isInURL) else { throw .malformedURL }
        let rest: Substring
        if let secure = Self.dropping("https://", from: text) {
            rest = secure
        } else if allowsLocalServers, let plain = Self.dropping("http://", from: text) {
            rest = plain
        } else {
            throw .notHTTPS
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = try Self.host(of: authority)
        guard let url = URL(string: text), let parsed = url.host(percentEncoded: true)?.lowercased(),
            parsed == host.text || "[\(parsed)]" == host.text,
            // Foundation encodes invalid characters, and would then request another URL.
            url.absoluteString == text
        else { throw .malformedURL }
        guard allowsLocalServers || !host.isLocal else { throw .localAddress }
        self.url = url
    }

    /// Resolves the `location` of a redirect against this URL, and returns the result after checking it.
    /// - Throws: ``AttachmentError`` for a URL that is not allowed.
    func redirected(to location: String, allowsLocalServers: Bool) throws(AttachmentError) -> AttachmentURL {
        guard location.utf8.count <= Self.maximumLength, location.utf8.allSatisfy(\.isInURL),
            let url = URL(string: location, relativeTo: self.url)
        else { throw .malformedURL }
        return try AttachmentURL(url.absoluteString, allowsLocalServers: allowsLocalServers)
    }

    private static func dropping(_ scheme: String, from text: String) -> Substring? {
        guard text.prefix(scheme.count).lowercased() == scheme else { return nil }
        return text.dropFirst(scheme.count)
    }

    private static func host(of authority: Substring) throws(AttachmentError) -> AttachmentHost {
        var (host, port) = (authority, Substring())
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { throw .malformedURL }
            (host, port) = (authority[...end], authority[authority.index(after: end)...])
        } else if let colon = authority.firstIndex(of: ":") {
            (host, port) = (authority[..<colon], authority[colon...])
        }
        guard port.isEmpty || (port.hasPrefix(":") && UInt16(port.dropFirst()).map { $0 > 0 } == true),
            let host = AttachmentHost(host.lowercased())
        else { throw .malformedURL }
        return host
    }
}

/// A host in a URL, which is a name or an address in lower case.
struct AttachmentHost: Hashable, Sendable {
    let text: String
    /// A Boolean value that indicates whether the host is the device itself, is in a private network, or has an address
    /// that is not globally reachable.
    let isLocal: Bool

    /// Parses a host. Returns `nil` for a text that is neither a valid name nor an address.
    /// - Parameter text: A name, an IPv4 address or an IPv6 address in brackets.
    init?(_ text: String) {
        self.text = text
        if text.hasPrefix("["), text.hasSuffix("]") {
            guard let words = Self.words(text.dropFirst().dropLast()) else { return nil }
            self.isLocal = Self.isLocal(words: words)
            return
        }
        var labels = text.split(separator: ".", omittingEmptySubsequences: false)
        // A fully qualified name may end with a dot.
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        guard text.utf8.count <= 253, let last = labels.last, labels.allSatisfy(Self.isLabel) else { return nil }
        if Self.isNumber(last) {
            // Resolvers also accept 127.1, 0x7f000001 and 017700000001 as addresses. No legitimate URL has such a host.
            guard let bytes = Self.bytes(labels), text.last != "." else { return nil }
            self.isLocal = Self.isLocal(bytes: bytes)
        } else {
            let suffixes: Set<Substring> = [
                "localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "private", "arpa",
                "onion",
            ]
            self.isLocal = labels.count == 1 || suffixes.contains(last)
        }
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count)
            && label.utf8.allSatisfy { byte in byte != UInt8(ascii: ".") && (byte.isName || byte == UInt8(ascii: "_")) }
    }

    private static func isNumber(_ label: Substring) -> Bool {
        label.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } || label.hasPrefix("0x")
    }

    /// Parses an IPv4 address of four decimal numbers without leading zeros. Returns `nil` for other labels.
    private static func bytes(_ labels: [Substring]) -> [UInt8]? {
        let bytes = labels.compactMap { label in UInt8(label).flatMap { String($0) == label ? $0 : nil } }
        return labels.count == 4 && bytes.count == 4 ? bytes : nil
    }

    /// Parses an IPv6 address without a zone into its 16-bit words. Returns `nil` for other strings.
    private static func words(_ text: Substring) -> [UInt16]? {
        var address = in6_addr()
        let characters = text.utf8.allSatisfy { byte in
            byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".") || byte.isHexadecimal
        }
        guard characters, inet_pton(AF_INET6, String(text), &address) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: &address) { Array($0) }
        return stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
    }

    /// Returns whether an IPv4 address is not globally reachable (RFC 6890).
    private static func isLocal(bytes: [UInt8]) -> Bool {
        switch (bytes[0], bytes[1]) {
        case (0, _), (10, _), (127, _), (100, 64...127), (169, 254), (172, 16...31), (192, 168), (198, 18...19): true
        case (192, 0): bytes[2] == 0 || bytes[2] == 2
        case (198, 51): bytes[2] == 100
        case (203, 0): bytes[2] == 113
        case (224..., _): true
        default: false
        }
    }

    /// Returns whether an IPv6 address is not a global unicast address, or embeds a local IPv4 address.
    private static func isLocal(words: [UInt16]) -> Bool {
        func embedded(_ index: Int) -> Bool {
            self.isLocal(bytes: words[index...index + 1].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] })
        }
        switch words[0] {
        // NAT64, whose last words are an IPv4 address.
        case 0x0064: return words[1] != 0xff9b || words[2...5].contains { $0 != 0 } || embedded(6)
        case 0x2002: return embedded(1)
        // Teredo, documentation and other special uses.
        case 0x2001: return words[1] < 0x0200 || words[1] == 0x0db8
        case 0x2000...0x3fff: return words[0] == 0x3fff
        default: return true
        }
    }
}

extension UInt8 {
    /// A Boolean value that indicates whether the byte is an ASCII character that may occur in a URL.
    fileprivate var isInURL: Bool {
        guard (0x21...0x7e).contains(self) else { return false }
        switch self {
        case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            return false
        default: return true
        }
    }

    fileprivate var isHexadecimal: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }
}
