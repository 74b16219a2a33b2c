package import PushSupport

/// A deliberate misbehaviour of the gateway: an action, and the subjects to which it applies.
///
/// The JSON form is a flat object, `{"reason": "TooManyRequests", "topic": "com.example.MyApp", "percent": 20}`. The
/// text form, for a command-line flag, has the same members:
/// `reason=TooManyRequests,topic=com.example.MyApp,percent=20`.
struct FaultRule: Hashable, Sendable {
    /// The id of the rule. ``FaultPlan`` assigns one if it is empty.
    var id = ""
    var match = FaultMatch()
    var action: FaultAction
}

extension FaultRule {
    private static let idMember = Member.text("id", 1...64, pattern: FaultText.pattern)
        .checked("invalid_value", FaultText.rule, FaultText.isPlain)
        .described("Default: one that the gateway makes.")

    static let object = RequestObject(optional: FaultAction.Members.all, FaultMatch.Members.all, [Self.idMember]) {
        $0.described("Exactly one member that names a fault, with its details, and those that say where it applies.")
    }

    /// Reads the members of an object.
    /// - Parameter path: The path of the object in the request body, or `nil` for the body itself.
    /// - Throws: ``RequestError`` with the path of the invalid member.
    init(members: [String: JSONValue], path: String? = nil) throws(RequestError) {
        try self.init(JSONFields(members: members, path: path, known: Self.object.known))
    }

    /// Parses the members of a request body.
    /// - Throws: ``RequestError`` with the path of the invalid member.
    init(_ fields: JSONFields) throws(RequestError) {
        self.id = try fields.value(Self.idMember) ?? ""
        self.match = try FaultMatch(fields)
        self.action = try FaultAction(fields)
        try self.check(fields)
    }

    /// Throws ``RequestError`` if the rule could never apply, because its listener lacks the action or a member is not
    /// known when the fault is decided.
    private func check(_ fields: JSONFields) throws(RequestError) {
        if let listener = self.match.listener, !self.action.listeners.contains(listener) {
            let listeners = self.action.listeners.map(\.rawValue).sorted().joined(separator: ", ")
            throw fields.error("door", "invalid_value", "this fault is for: \(listeners)")
        }
        for name in self.action.point.unknownMembers where fields.members[name] != nil {
            throw fields.error(name, "not_applicable", "this is not known yet when the fault is decided")
        }
    }

    var json: JSONValue { .object(Dictionary(self.members) { $1 }) }

    /// The JSON members of the rule, in the order of the text form: first the action, then the match.
    var members: [(String, JSONValue)] {
        self.action.members + self.match.members + (self.id.isEmpty ? [] : [("id", .string(self.id))])
    }
}

extension FaultRule: CustomStringConvertible {
    /// Parses the text form of a rule.
    /// - Throws: ``RequestError`` with the path of the invalid member.
    init(text: String) throws(RequestError) { try self.init(members: try FaultText.members(text)) }

    var description: String { FaultText.text(self.members) }
}

extension FaultPoint {
    /// The members that a rule must not have at this point, because the values are not known yet.
    fileprivate var unknownMembers: [String] {
        switch self {
        case .connection: ["topic", "token", "credential"]
        case .request: []
        case .delivery, .acknowledgement: ["credential"]
        case .feedback: ["token"]
        }
    }
}

/// The text form of a rule's members: `name=value`, separated by commas. A name alone stands for `true`.
package enum FaultText {
    /// The maximum length of a text form, in bytes. A longer one is rejected.
    static let maximumLength = 4096
    /// The pattern of member values that need no quotes (``isPlain(_:)``).
    static let pattern = "^[A-Za-z0-9._-]+$"
    static let rule = "use letters, digits, dots, hyphens and underscores"
    private static let numbers = Set(FaultRule.object.members.filter { $0.schema.isNumber }.map { $0.name })

    package static func members(_ text: String) throws(RequestError) -> [String: JSONValue] {
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

    /// Returns whether a value needs no quotes: letters, digits, dots, hyphens and underscores.
    static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0.isAlphanumeric || ".-_".utf8.contains($0) }
    }

    /// Parses a value of the member `name`. Text that is not a number stays a string, which is later rejected where a
    /// number is required.
    private static func value(_ text: Substring, of name: String) -> JSONValue {
        guard Self.numbers.contains(name) else { return .string(String(text)) }
        if let number = Int64(text) { return .integer(number) }
        return Double(text).flatMap { $0.isFinite ? .number($0) : nil } ?? .string(String(text))
    }
}
