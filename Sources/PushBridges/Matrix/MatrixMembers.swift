import PushSupport

/// The members of a JSON object of a homeserver, with typed access.
///
/// Other members are ignored, because homeservers add some without notice. `null` and an empty text are like an absent member:
/// homeservers send both where they have nothing to say.
struct MatrixMembers {
    private let members: [String: JSONValue]
    /// The path of the object, for errors.
    private let place: String

    init(_ members: [String: JSONValue], at place: String) {
        (self.members, self.place) = (members, place)
    }

    /// Returns a text; `nil` for none.
    func string(_ name: String) throws(MatrixError) -> String? {
        switch self.members[name] {
        case nil, .null?: nil
        case .string(let text)?: text.isEmpty ? nil : text
        default: throw .wrongType("\(self.place).\(name)", "a string")
        }
    }

    /// Returns a text that must be present.
    func required(_ name: String) throws(MatrixError) -> String {
        guard let text = try self.string(name) else {
            throw MatrixError(400, .badJSON, "\(self.place).\(name) is missing")
        }
        return text
    }

    /// Returns the members of an object; `nil` for none.
    func object(_ name: String) throws(MatrixError) -> [String: JSONValue]? {
        switch self.members[name] {
        case nil, .null?: nil
        case .object(let members)?: members
        default: throw .wrongType("\(self.place).\(name)", "an object")
        }
    }

    /// Returns the elements of an array; `nil` for none.
    func array(_ name: String) throws(MatrixError) -> [JSONValue]? {
        switch self.members[name] {
        case nil, .null?: nil
        case .array(let elements)?: elements
        default: throw .wrongType("\(self.place).\(name)", "an array")
        }
    }

    /// Returns a whole number; `nil` for none.
    func integer(_ name: String) throws(MatrixError) -> Int64? {
        switch self.members[name] {
        case nil, .null?: nil
        case .integer(let value)?: value
        default: throw .wrongType("\(self.place).\(name)", "an integer")
        }
    }

    /// Returns `true` for the member `true`, `false` for anything else.
    func flag(_ name: String) -> Bool { self.members[name] == .bool(true) }

    /// Returns a text that is not empty; `nil` for anything else. It reads what users and apps choose themselves, whose mistakes
    /// must not stop what comes after.
    func lenientString(_ name: String) -> String? {
        guard case .string(let text)? = self.members[name], !text.isEmpty else { return nil }
        return text
    }

    /// Returns the text of a tweak; `nil` for none, and for one without a value, which is `true` (client-server API, push rules).
    func tweak(_ name: String) throws(MatrixError) -> String? {
        if self.members[name] == .bool(true) { return nil }
        return try self.string(name)
    }

    /// Checks that a member is `true` or `false`, or none.
    func checkFlag(_ name: String) throws(MatrixError) {
        switch self.members[name] {
        case nil, .null?, .bool?: return
        default: throw .wrongType("\(self.place).\(name)", "a boolean")
        }
    }
}
