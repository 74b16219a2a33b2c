import PushSupport

/// One way in which the gateway misbehaves on command: whom it meets, how often, and what happens then.
///
/// In JSON a flat object, `{"reason": "TooManyRequests", "topic": "com.example.MyApp", "percent": 20}`; in text, for a
/// command-line flag, the same members, `reason=TooManyRequests,topic=com.example.MyApp,percent=20`.
struct FaultRule: Hashable, Sendable {
    /// Longest id, in bytes: letters, digits, hyphens and underscores.
    static let longestID = 64

    /// Given by the plan where it is empty.
    var id = ""
    var match = FaultMatch()
    var action: FaultAction
}

extension FaultRule {
    /// Reads the members of an object.
    /// - Parameter path: where the object stands in what was sent; `nil` at the top.
    /// - Throws: ``RequestError`` that names the member at fault.
    init(members: [String: JSONValue], path: String? = nil) throws(RequestError) {
        let known = FaultAction.memberNames.union(FaultMatch.memberNames).union(["id"])
        let fields = try JSONFields(members: members, path: path, known: known)
        self.id = try fields.string("id", maximum: Self.longestID) ?? ""
        guard self.id.utf8.allSatisfy(FaultText.isPlain) else {
            throw fields.refusal("id", "invalid_value", "use letters, digits, dots, hyphens and underscores")
        }
        self.match = try FaultMatch(fields)
        self.action = try FaultAction(fields)
        try self.check(fields)
    }

    /// A rule that could never strike is a mistake.
    private func check(_ fields: JSONFields) throws(RequestError) {
        if let door = self.match.door, !self.action.doors.contains(door) {
            let doors = self.action.doors.map(\.rawValue).sorted().joined(separator: ", ")
            throw fields.refusal("door", "invalid_value", "this fault is for: \(doors)")
        }
        for name in self.action.point.unknownMembers where fields.members[name] != nil {
            throw fields.refusal(name, "not_applicable", "this is not known yet when the fault is decided")
        }
    }

    /// What ``init(members:path:)`` reads.
    var members: [String: JSONValue] {
        var members = Dictionary(self.action.members + self.match.members) { $1 }
        if !self.id.isEmpty { members["id"] = .string(self.id) }
        return members
    }
}

extension FaultRule: Codable {
    /// - Throws: ``RequestError`` as well as what the decoder throws.
    init(from decoder: any Decoder) throws {
        try self.init(members: try [String: JSONValue](from: decoder))
    }

    func encode(to encoder: any Encoder) throws {
        try self.members.encode(to: encoder)
    }
}

/// The text form: for people, on a command line.
extension FaultRule: CustomStringConvertible {
    /// - Throws: ``RequestError`` that names the member at fault.
    init(text: String) throws(RequestError) {
        try self.init(members: try FaultText.members(text))
    }

    /// The action first, then whom it meets.
    var description: String {
        let id = self.id.isEmpty ? [] : [("id", JSONValue.string(self.id))]
        return FaultText.text(self.action.members + self.match.members + id)
    }
}

extension FaultPoint {
    /// Members of a rule that cannot match at this point.
    fileprivate var unknownMembers: [String] {
        switch self {
        case .connection: ["topic", "token", "credential"]
        case .request: []
        case .delivery, .acknowledgement: ["credential"]
        case .feedback: ["token"]
        }
    }
}
