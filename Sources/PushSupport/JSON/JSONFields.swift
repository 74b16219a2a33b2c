package import Foundation

/// The members of a JSON object in a request, with typed access. Each error names the member at fault.
///
/// An unknown member is an error, because a misspelled name must not be ignored silently.
package struct JSONFields: Sendable {
    /// The members that are not `null`.
    package let members: [String: JSONValue]
    /// The names of the members that are `null`.
    package let nulls: Set<String>
    /// The path of the object in the request, or `nil` for the outermost object.
    package let place: String?

    /// Parses a body.
    /// - Parameter known: The names of the members that are allowed.
    /// - Throws: ``RequestError`` for a text that is not a JSON object, or an unknown member.
    package init(parsing data: Data, known: Set<String>) throws(RequestError) {
        try self.init(JSONValue(parsing: data), known: known)
    }

    /// Reads the members of a body that has been parsed.
    /// - Parameter known: The names of the members that are allowed.
    /// - Throws: ``RequestError`` for a value that is not an object, or an unknown member.
    package init(_ json: JSONValue, known: Set<String>) throws(RequestError) {
        guard case .object(let members) = json else {
            throw RequestError(.invalid, code: "invalid_json", message: "the body must be a JSON object")
        }
        try self.init(members: members, path: nil, known: known)
    }

    /// Reads the members of an object within a request.
    /// - Parameters:
    ///   - members: The object's members.
    ///   - path: The path of the object in the request, or `nil` for the outermost object.
    ///   - known: The names of the members that are allowed.
    /// - Throws: ``RequestError`` for an unknown member.
    package init(members: [String: JSONValue], path: String?, known: Set<String>) throws(RequestError) {
        self.members = members.filter { $0.value != .null }
        self.nulls = Set(members.filter { $0.value == .null }.keys)
        self.place = path
        for name in members.keys.sorted() where !known.contains(name) {
            throw self.error(name, "unknown_field", "known here: \(known.sorted().joined(separator: ", "))")
        }
    }

    /// Returns a string member, which must have `minimum` to `maximum` bytes, or `nil` if it is absent.
    ///
    /// A string with a NUL is an error, because texts in the store end at one.
    package func string(_ name: String, minimum: Int = 1, maximum: Int) throws(RequestError) -> String? {
        switch self.members[name] {
        case nil: return nil
        case .string(let text):
            guard !text.isEmpty else { throw self.error(name, "invalid_value", "it must not be empty") }
            guard text.utf8.count >= minimum else {
                throw self.error(name, "too_short", "at least \(minimum) bytes, not \(text.utf8.count)")
            }
            guard text.utf8.count <= maximum else {
                throw self.error(name, "too_long", "at most \(maximum) bytes, not \(text.utf8.count)")
            }
            guard !text.utf8.contains(0) else { throw self.error(name, "invalid_value", "it must not have a NUL") }
            return text
        default: throw self.wrongType(name, "a string")
        }
    }

    /// Returns an integer member, which must be in `range`, or `nil` if it is absent.
    package func integer(_ name: String, in range: ClosedRange<Int64>) throws(RequestError) -> Int64? {
        switch self.members[name] {
        case nil: return nil
        case .integer(let value):
            guard range.contains(value) else {
                throw self.error(name, "invalid_value", "use \(range.lowerBound) to \(range.upperBound)")
            }
            return value
        default: throw self.wrongType(name, "an integer")
        }
    }

    /// Returns a number member, with or without a fraction, or `nil` if it is absent.
    package func number(_ name: String) throws(RequestError) -> JSONValue? {
        switch self.members[name] {
        case nil: return nil
        case .integer(let value): return .integer(value)
        case .number(let value): return .number(value)
        default: throw self.wrongType(name, "a number")
        }
    }

    /// Returns a Boolean member, or `nil` if it is absent.
    package func bool(_ name: String) throws(RequestError) -> Bool? {
        switch self.members[name] {
        case nil: return nil
        case .bool(let value): return value
        default: throw self.wrongType(name, "true or false")
        }
    }

    /// Returns an array member of at most `count` strings, of 1 to `maximum` bytes each, or `nil` if it is absent.
    package func strings(_ name: String, count: Int, maximum: Int) throws(RequestError) -> [String]? {
        guard let value = self.members[name] else { return nil }
        guard case .array(let values) = value else { throw self.wrongType(name, "an array of strings") }
        guard values.count <= count else {
            throw self.error(name, "too_many", "at most \(count) entries, not \(values.count)")
        }
        var texts: [String] = []
        for (index, value) in values.enumerated() {
            guard case .string(let text) = value, !text.isEmpty, text.utf8.count <= maximum, !text.utf8.contains(0)
            else {
                let message = "use strings of 1 to \(maximum) bytes without a NUL"
                throw self.error("\(name)[\(index)]", "invalid_value", message)
            }
            texts.append(text)
        }
        return texts
    }

    /// Returns the members of an object member, or `nil` if it is absent.
    package func object(_ name: String) throws(RequestError) -> [String: JSONValue]? {
        guard let value = self.members[name] else { return nil }
        guard case .object(let members) = value else { throw self.wrongType(name, "an object") }
        return members
    }

    /// Returns the fields of an object member, in which only `known` members are allowed, or `nil` if it is absent.
    package func fields(_ name: String, known: Set<String>) throws(RequestError) -> JSONFields? {
        guard let members = try self.object(name) else { return nil }
        return try JSONFields(members: members, path: self.pathOf(name), known: known)
    }

    /// Returns an error that names a member of the object.
    package func error(_ name: String, _ code: String, _ message: String) -> RequestError {
        RequestError(.invalid, code: code, message: message, path: self.pathOf(name))
    }

    /// Returns an error about the object as a whole.
    package func error(_ code: String, _ message: String) -> RequestError {
        RequestError(.invalid, code: code, message: message, path: self.place)
    }

    /// Returns the error for a member of another type than `wanted`, such as `a string`.
    package func wrongType(_ name: String, _ wanted: String) -> RequestError {
        self.error(name, "wrong_type", "it must be \(wanted)")
    }

    private func pathOf(_ name: String) -> String { self.place.map { "\($0).\(name)" } ?? name }
}
