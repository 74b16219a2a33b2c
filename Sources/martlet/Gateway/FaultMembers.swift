import PushSupport

/// The text form of a fault as the members of a JSON object.
enum FaultMembers {
    /// Members that are numbers; all others are text.
    private static let numbers: Set<String> = [
        "retryAfter", "goAway", "slow", "streamLimit", "after", "dropDevice", "percent", "first", "every", "times",
        "untilMs",
    ]

    /// A member without a value means yes. What is wrong with it, the gateway says.
    static func of(_ text: String) -> [String: JSONValue?] {
        let pairs = text.split(separator: ",").map { part -> (String, JSONValue?) in
            let sides = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard sides.count == 2 else { return (String(part), .bool(true)) }
            guard Self.numbers.contains(sides[0]) else { return (sides[0], .string(sides[1])) }
            let number = Int64(sides[1]).map(JSONValue.integer) ?? Double(sides[1]).map(JSONValue.number)
            return (sides[0], number ?? .string(sides[1]))
        }
        return Dictionary(pairs) { $1 }
    }
}
