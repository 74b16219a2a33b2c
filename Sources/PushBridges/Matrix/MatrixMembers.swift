import PushSupport

/// Typed access to the members of a JSON object from a homeserver.
///
/// Unknown members are ignored, because homeservers add new ones. `null` and an empty string are treated as absent
/// members, because homeservers send either for missing values.
struct MatrixMembers {
    private let members: [String: JSONValue]
    private let place: String

    init(_ members: [String: JSONValue], at place: String) { (self.members, self.place) = (members, place) }

    /// Returns a string, or `nil` if the member is absent. Throws ``MatrixError`` for another type.
    func string(_ name: String) throws(MatrixError) -> String? {
        switch self.members[name] {
        case nil, .null?: nil
        case .string(let text)?: text.isEmpty ? nil : text
        default: throw .wrongType("\(self.place).\(name)", "a string")
        }
    }

    /// Returns a string. Throws ``MatrixError`` if the member is absent, empty or not a string.
    func required(_ name: String) throws(MatrixError) -> String {
        guard let text = try self.string(name) else {
            throw MatrixError(400, .badJSON, "\(self.place).\(name) is missing")
        }
        return text
    }

    /// Returns the members of a nested object, or `nil` if it is absent. Throws ``MatrixError`` for another type.
    func object(_ name: String) throws(MatrixError) -> [String: JSONValue]? {
        switch self.members[name] {
        case nil, .null?: nil
        case .object(let members)?: members
        default: throw .wrongType("\(self.place).\(name)", "an object")
        }
    }

    /// Returns the elements of an array, or `nil` if it is absent. Throws ``MatrixError`` for another type.
    func array(_ name: String) throws(MatrixError) -> [JSONValue]? {
        switch self.members[name] {
        case nil, .null?: nil
        case .array(let elements)?: elements
        default: throw .wrongType("\(self.place).\(name)", "an array")
        }
    }

    /// Returns an integer, or `nil` if the member is absent. Throws ``MatrixError`` for another type.
    func integer(_ name: String) throws(MatrixError) -> Int64? {
        switch self.members[name] {
        case nil, .null?: nil
        case .integer(let value)?: value
        default: throw .wrongType("\(self.place).\(name)", "an integer")
        }
    }

    /// Returns `true` if the member is `true`, and `false` for any other value.
    func flag(_ name: String) -> Bool { self.members[name] == .bool(true) }

    /// Returns a string that is not empty, or `nil` for any other value. It is for values that users and apps choose,
    /// because an error in such a value must not hold back later notifications.
    func lenientString(_ name: String) -> String? {
        guard case .string(let text)? = self.members[name], !text.isEmpty else { return nil }
        return text
    }

    /// Returns the string value of a tweak, or `nil` if it is absent or `true`, which means that it has no value
    /// (Matrix client-server API, push rules).
    func tweak(_ name: String) throws(MatrixError) -> String? {
        if self.members[name] == .bool(true) { return nil }
        return try self.string(name)
    }

    /// Throws an error unless a member is a Boolean or absent.
    func checkFlag(_ name: String) throws(MatrixError) {
        switch self.members[name] {
        case nil, .null?, .bool?: return
        default: throw .wrongType("\(self.place).\(name)", "a boolean")
        }
    }
}
