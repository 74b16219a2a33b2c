import PushProtocol

/// The text form of a fault as the members of a JSON object.
enum FaultMembers {
    /// A member without a value means yes; what looks like a number is one.
    static func of(_ text: String) -> [String: JSONValue?] {
        let pairs = text.split(separator: ",").map { part -> (String, JSONValue?) in
            let sides = part.split(separator: "=", maxSplits: 1)
            guard sides.count == 2 else { return (String(part), .bool(true)) }
            let value = String(sides[1])
            let number = Int64(value).map(JSONValue.integer) ?? Double(value).map(JSONValue.number)
            return (String(sides[0]), number ?? .string(value))
        }
        return Dictionary(pairs) { $1 }
    }
}
