import PushSupport

/// Encodes texts for URLs.
enum URLText {
    /// Returns a text as a value in a query, or as a component of a path.
    static func encoded(_ text: some StringProtocol) -> String { PercentEncoding.component(text) }

    /// Returns a query of the items that have a value, with its question mark; empty without any.
    static func query(_ items: KeyValuePairs<String, String?>) -> String {
        let pairs = items.compactMap { name, value in value.map { "\(name)=\(Self.encoded($0))" } }
        return pairs.isEmpty ? "" : "?\(pairs.joined(separator: "&"))"
    }
}
