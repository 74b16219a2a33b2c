import PushSupport

/// Text in addresses.
enum FormText {
    /// Returns a text as a value in a query, or as a component of a path.
    static func encoded(_ text: some StringProtocol) -> String {
        var encoded = ""
        for byte in text.utf8 {
            if byte.isAlphanumeric || "-._~".utf8.contains(byte) {
                encoded.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return encoded
    }

    /// Returns a query of the items that have a value, with its question mark; empty without any.
    static func query(_ items: KeyValuePairs<String, String?>) -> String {
        let pairs = items.compactMap { name, value in value.map { "\(name)=\(Self.encoded($0))" } }
        return pairs.isEmpty ? "" : "?\(pairs.joined(separator: "&"))"
    }
}
