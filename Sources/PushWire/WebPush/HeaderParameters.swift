/// The parameters of a header field, `name=value` between commas or semicolons. The first one of a name counts.
struct HeaderParameters {
    /// The most parameters that are read.
    private static let maximumCount = 16

    private var values: [String: String] = [:]

    init(_ text: some StringProtocol) {
        for part in text.split(maxSplits: Self.maximumCount, whereSeparator: { $0 == "," || $0 == ";" }) {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { continue }
            let name = Self.trimmed(pair[0]).lowercased()
            if self.values[name] == nil { self.values[name] = Self.trimmed(pair[1]) }
        }
    }

    subscript(name: String) -> String? { self.values[name] }

    /// Returns a text without the spaces and the quotes around it.
    private static func trimmed(_ text: some StringProtocol) -> String {
        let outer: Set<Character> = [" ", "\t", "\""]
        let rest = text.drop { outer.contains($0) }
        guard let end = rest.lastIndex(where: { !outer.contains($0) }) else { return "" }
        return String(rest[...end])
    }
}
