import PushSupport

/// The members of a message in the JSON form of protocol buffers.
///
/// Each member has two names, such as `live_activity_token` and `liveActivityToken`. `null` is the same as an absent
/// member, and unknown members are ignored.
struct ProtoFields {
    private let members: [String: JSONValue]
    /// The path of the message, for errors. It is empty for the top-level message.
    let path: String

    /// Reads the members of a message. Throws ``FCMError`` for a value that is not an object.
    init(_ value: JSONValue, path: String) throws(FCMError) {
        guard case .object(let members) = value else {
            throw .invalid(path.isEmpty ? "body" : path, "it must be an object")
        }
        (self.members, self.path) = (members, path)
    }

    func place(_ name: String) -> String { self.path.isEmpty ? name : "\(self.path).\(name)" }

    /// Returns a member by its name in snake case, or `nil` if it is absent or `null`.
    func value(_ name: String) -> JSONValue? {
        let value = self.members[name] ?? self.members[Self.camelCase(name)]
        return value == .null ? nil : value
    }

    static func camelCase(_ name: String) -> String {
        let parts = name.split(separator: "_")
        guard let first = parts.first else { return name }
        return parts.dropFirst().reduce(String(first)) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }

    /// Returns a string, or `nil` for an absent or empty one, because the default in protocol buffers is empty.
    /// - Throws: ``FCMError`` that names a member of another type, as the other accessors do.
    func text(_ name: String) throws(FCMError) -> String? {
        switch self.value(name) {
        case nil: return nil
        case .string(let text)?: return text.isEmpty ? nil : text
        default: throw .invalid(self.place(name), "it must be a text")
        }
    }

    func flag(_ name: String) throws(FCMError) -> Bool {
        switch self.value(name) {
        case nil: return false
        case .bool(let flag)?: return flag
        default: throw .invalid(self.place(name), "it must be true or false")
        }
    }

    /// Returns a nested message, or `nil` if it is absent. Throws ``FCMError`` for a member of another type.
    func message(_ name: String) throws(FCMError) -> ProtoFields? {
        guard let value = self.value(name) else { return nil }
        return try ProtoFields(value, path: self.place(name))
    }

    /// Returns the members of a JSON object, or none if it is absent. Throws ``FCMError`` for a member of another type.
    func object(_ name: String) throws(FCMError) -> [String: JSONValue] {
        switch self.value(name) {
        case nil: return [:]
        case .object(let members)?: return members
        default: throw .invalid(self.place(name), "it must be an object")
        }
    }

    /// Returns the entries of a map of strings, sorted by name, or none if it is absent. Throws ``FCMError`` for
    /// another type.
    func texts(_ name: String) throws(FCMError) -> [(name: String, value: String)] {
        var texts: [(name: String, value: String)] = []
        for (index, entry) in try self.object(name).sorted(by: { $0.key < $1.key }).enumerated() {
            guard case .string(let text) = entry.value else {
                throw .invalid("\(self.place(name))[\(index)].value", "it must be a text")
            }
            texts.append((entry.key, text))
        }
        return texts
    }
}
