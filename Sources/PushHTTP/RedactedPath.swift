package import Hummingbird

/// The path of a request as it may stand in a log: device tokens, users and keys in it are cut short.
///
/// Every log line that names the path of a request takes it from here.
package enum RedactedPath {
    /// Parts of a path that are not longer are shown whole, in bytes.
    private static let shortest = 12
    /// The length of what is shown of a longer part, in characters.
    private static let shown = 6
    /// The longest path that is shown, in bytes.
    private static let longest = 300

    package static func of(_ request: Request) -> String { self.of(request.uri.path) }

    package static func of(_ path: String) -> String {
        // The forms of older systems have secrets of any form in their paths.
        let isOurs = path.hasPrefix("/v1/")
        let parts = path.prefix(Self.longest).split(separator: "/", omittingEmptySubsequences: false)
        return parts.enumerated().map { index, part in
            // After the user's name nothing says what it looks like.
            let isUser = index > 0 && parts[index - 1] == "users"
            guard isUser || !Self.isHarmless(part, isOurs: isOurs) else { return String(part) }
            return "\(part.prefix(min(Self.shown, part.count / 2)))…"
        }.joined(separator: "/")
    }

    /// Short, a word of ours such as `notifications:preview`, a bundle id, or an id.
    private static func isHarmless(_ part: Substring, isOurs: Bool) -> Bool {
        if part.utf8.count <= Self.shortest { return true }
        guard isOurs else { return false }
        return Self.isWord(part) || part.contains(".") || Self.isUUID(part)
    }

    private static func isWord(_ part: Substring) -> Bool {
        part.utf8.count <= 32 && part.utf8.allSatisfy { (97...122).contains($0) || $0 == 58 || $0 == 45 }
    }

    private static func isUUID(_ part: Substring) -> Bool {
        let lengths = part.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count)
        return lengths == [8, 4, 4, 4, 12] && part.utf8.allSatisfy { $0 == 45 || Self.isHex($0) }
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
    }
}
