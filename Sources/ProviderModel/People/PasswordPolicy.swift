package import PushSupport

/// The rules for new passwords: a minimum length, and no password that attackers try first (OWASP ASVS 4.0.3, 2.1).
///
/// There are no rules about kinds of characters, and a password does not expire.
package enum PasswordPolicy {
    /// The minimum and maximum number of characters of a password.
    package static let characters = 12...128
    /// The maximum length of a password, in bytes of UTF-8.
    package static let maximumBytes = 1000
    /// The minimum number of different characters in a password.
    private static let minimumDifferent = 5
    /// The minimum number of characters that are left without the names of the person and the product.
    private static let minimumOwn = 8

    /// Checks a new password.
    /// - Parameter name: The name of the person, which most of the password must not consist of.
    /// - Throws: ``RequestError`` with the path `password` for a password that breaks a rule.
    package static func check(_ password: String, name: String) throws(RequestError) {
        guard password.count >= Self.characters.lowerBound else {
            throw Self.error("password_too_short", "a password has at least \(Self.characters.lowerBound) characters")
        }
        guard password.count <= Self.characters.upperBound, password.utf8.count <= Self.maximumBytes else {
            throw Self.error("password_too_long", "a password has at most \(Self.characters.upperBound) characters")
        }
        let folded = PersonRecord.key(of: password)
        guard !CommonPasswords.whole.contains(folded[...]), !Self.isWord(folded) else {
            throw Self.error("password_too_common", "this is one of the passwords that are tried first: choose another")
        }
        guard Set(folded).count >= Self.minimumDifferent, !Self.isSequence(folded) else {
            throw Self.error("password_too_simple", "it repeats a few characters or counts: choose another")
        }
        guard Self.own(folded, name: name).count >= Self.minimumOwn else {
            throw Self.error("password_too_simple", "it is hardly more than the name: choose another")
        }
    }

    private static func error(_ code: String, _ message: String) -> RequestError {
        RequestError(.invalid, code: code, message: message, path: "password")
    }

    private static func isWord(_ password: String) -> Bool {
        let end = password.lastIndex(where: \.isLetter).map { password.index(after: $0) } ?? password.startIndex
        let open = password[..<end]
        let core = open.drop { !$0.isLetter }
        return [open, core].contains { text in
            let replaced = String(text.map { Self.lookalikes[$0] ?? $0 })
            return [text, replaced[...]].contains {
                CommonPasswords.words.contains($0) || CommonPasswords.whole.contains($0)
            }
        }
    }

    /// The signs that are often written in place of letters.
    private static let lookalikes: [Character: Character] = [
        "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s", "!": "i",
    ]

    /// Returns whether the characters are an ascending or descending sequence, in which 0 follows 9.
    private static func isSequence(_ password: String) -> Bool {
        let values = password.unicodeScalars.map { Int($0.value) }
        let steps = zip(values, values.dropFirst()).map { $1 - $0 }
        return steps.allSatisfy { $0 == 1 || $0 == -9 } || steps.allSatisfy { $0 == -1 || $0 == 9 }
    }

    private static func own(_ password: String, name: String) -> String {
        let name = PersonRecord.key(of: name)
        let parts = [name] + name.split { !$0.isLetter && !$0.isNumber }.map(String.init) + ["martlet"]
        return parts.filter { $0.count > 2 }.reduce(password) { $0.replacing($1, with: "") }
    }
}
