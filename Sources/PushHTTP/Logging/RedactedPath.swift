package import Hummingbird

/// Shortens device tokens, users and keys in the path of a request, for the log.
///
/// It is used for every log line that contains the path of a request.
package enum RedactedPath {
    /// The maximum length of a path component that is shown in full, whatever it contains, in bytes.
    private static let shortLength = 12
    /// The number of characters of a longer component that are shown.
    private static let shownLength = 6
    /// The maximum length of a shown path, in characters. The rest of the path is omitted.
    private static let maximumLength = 300

    package static func of(_ request: Request) -> String { self.of(request.uri.path) }

    package static func of(_ path: String) -> String {
        // Paths outside the own API may contain secrets of any form.
        let isOwnAPI = path.hasPrefix("/v1/")
        // Consecutive separators count as one, as in the router, so that the component after `users` is always a user.
        let parts = path.prefix(Self.maximumLength).split(separator: "/")
        let shown = parts.enumerated().map { index, part in
            // A user id may have any form.
            let isUser = index > 0 && parts[index - 1] == "users"
            guard isUser || !Self.isHarmless(part, isOwnAPI: isOwnAPI) else { return String(part) }
            return "\(part.prefix(min(Self.shownLength, part.count / 2)))…"
        }.joined(separator: "/")
        return path.hasPrefix("/") ? "/\(shown)" : shown
    }

    /// Returns whether a component may be shown in full, because it is short, a name of the API such as
    /// `notifications:preview`, a bundle id or a UUID.
    private static func isHarmless(_ part: Substring, isOwnAPI: Bool) -> Bool {
        if part.utf8.count <= Self.shortLength { return true }
        guard isOwnAPI else { return false }
        return Self.isName(part) || part.contains(".") || Self.isUUID(part)
    }

    private static func isName(_ part: Substring) -> Bool {
        part.utf8.count <= 32
            && part.utf8.allSatisfy { (97...122).contains($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "-") }
    }

    private static func isUUID(_ part: Substring) -> Bool {
        let lengths = part.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count)
        return lengths == [8, 4, 4, 4, 12]
            && part.utf8.allSatisfy { $0 == UInt8(ascii: "-") || Character(UnicodeScalar($0)).isHexDigit }
    }
}
