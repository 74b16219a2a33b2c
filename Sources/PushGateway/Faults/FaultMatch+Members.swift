import PushSupport
import PushTypes

extension FaultMatch {
    static let memberNames: Set<String> = [
        "topic", "token", "credential", "environment", "door", "percent", "first", "every", "times", "untilMs",
    ]
    private static let counts: ClosedRange<Int64> = 1...1_000_000_000

    init(_ fields: JSONFields) throws(RequestError) {
        if let text = try fields.string("topic", maximum: Topic.maximumLength) {
            guard let topic = Topic(text) else {
                throw fields.error("topic", "invalid_value", "use letters, digits, dots, hyphens and underscores")
            }
            self.topic = topic
        }
        if let text = try fields.string("token", maximum: DeviceToken.maximumLength * 2) {
            guard text.utf8.count >= Self.shortestToken, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
                throw fields.error(
                    "token",
                    "invalid_value",
                    "use the first \(Self.shortestToken) hexadecimal digits or more"
                )
            }
            self.token = text.lowercased()
        }
        if let text = try fields.string("credential", maximum: 64) {
            guard text.utf8.allSatisfy(FaultText.isPlain) else {
                throw fields.error("credential", "invalid_value", "use a key id or a hexadecimal serial number")
            }
            self.credential = text
        }
        self.environment = try fields.choice("environment")
        self.listener = try fields.choice("door")
        self.percent = try fields.number("percent", in: 0...100) ?? 100
        self.first = try fields.integer("first", in: Self.counts).map(Int.init)
        self.every = try fields.integer("every", in: Self.counts).map(Int.init)
        self.times = try fields.integer("times", in: Self.counts).map(Int.init)
        self.until = try fields.integer("untilMs", in: 0...Int64.max).map(Timestamp.init(milliseconds:))
    }

    /// The members in the order of the text form.
    var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = []
        if let listener { members.append(("door", .string(listener.rawValue))) }
        if let environment { members.append(("environment", .string(environment.rawValue))) }
        if let topic { members.append(("topic", .string(topic.name))) }
        if let token { members.append(("token", .string(token))) }
        if let credential { members.append(("credential", .string(credential))) }
        if self.percent < 100 {
            members.append(("percent", Int64(exactly: self.percent).map(JSONValue.integer) ?? .number(self.percent)))
        }
        for (name, count) in [("first", self.first), ("every", self.every), ("times", self.times)] {
            if let count { members.append((name, .integer(Int64(count)))) }
        }
        if let until { members.append(("untilMs", .integer(until.milliseconds))) }
        return members
    }
}

extension JSONFields {
    /// Returns a member that is a case of an enumeration; `nil` if it is absent.
    func choice<Value: RawRepresentable & CaseIterable>(_ name: String) throws(RequestError) -> Value?
    where Value.RawValue == String {
        guard let text = try self.string(name, maximum: 64) else { return nil }
        guard let value = Value(rawValue: text) else {
            let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw self.error(name, "invalid_value", "use one of: \(known)")
        }
        return value
    }

    /// Returns a number in a range; `nil` if it is absent.
    func number(_ name: String, in range: ClosedRange<Double>) throws(RequestError) -> Double? {
        let value: Double
        switch self.members[name] {
        case nil: return nil
        case .integer(let number): value = Double(number)
        case .number(let number): value = number
        default: throw self.wrongType(name, "a number")
        }
        guard range.contains(value) else {
            throw self.error(name, "invalid_value", "use \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}
