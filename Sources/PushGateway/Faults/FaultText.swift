import PushSupport

/// The text form of a rule's members: `name=value`, separated by commas. A name alone stands for `true`.
enum FaultText {
    /// The longest text, in bytes.
    static let maximumLength = 4096
    private static let numbers: Set<String> = [
        "retryAfter", "goAway", "slow", "streamLimit", "after", "dropDevice", "percent", "first", "every", "times",
        "untilMs",
    ]

    /// Parses the text form.
    static func members(_ text: String) throws(RequestError) -> [String: JSONValue] {
        guard text.utf8.count <= Self.maximumLength else {
            throw RequestError(.invalid, code: "too_long", message: "a fault has at most \(Self.maximumLength) bytes")
        }
        var members: [String: JSONValue] = [:]
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(sides.first ?? "")
            guard !name.isEmpty else {
                throw RequestError(.invalid, code: "invalid_value", message: "use name=value,name=value,…")
            }
            guard members[name] == nil else {
                throw RequestError(.invalid, code: "duplicate_field", message: "this member occurs twice", path: name)
            }
            members[name] = sides.count == 2 ? Self.value(sides[1], of: name) : .bool(true)
        }
        return members
    }

    static func text(_ members: [(String, JSONValue)]) -> String {
        members.map { name, value in
            switch value {
            case .string(let text): "\(name)=\(text)"
            case .integer(let number): "\(name)=\(number)"
            case .number(let number): "\(name)=\(number)"
            default: name
            }
        }.joined(separator: ",")
    }

    /// Returns whether a byte needs no quotes: letters, digits, dots, hyphens and underscores.
    static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Returns the value of a member. Text in place of a number stays text, so that the error names the member.
    private static func value(_ text: Substring, of name: String) -> JSONValue {
        guard Self.numbers.contains(name) else { return .string(String(text)) }
        if let number = Int64(text) { return .integer(number) }
        return Double(text).flatMap { $0.isFinite ? .number($0) : nil } ?? .string(String(text))
    }
}
