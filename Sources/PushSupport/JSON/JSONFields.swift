package import Foundation

/// Reads the members of a JSON object that a caller sent. Every fault names the member; a member that is not known is a
/// fault too, because a typing error must not be lost silently.
package struct JSONFields: Sendable {
    /// Without those that are `null`.
    package let members: [String: JSONValue]
    /// The names of the members that are `null`.
    package let nulls: Set<String>
    /// Where the object stands in what was sent; `nil` at the top.
    package let place: String?

    /// - Throws: ``RequestError`` for text that is no JSON object, or an unknown member.
    package init(parsing data: Data, known: Set<String>) throws(RequestError) {
        try self.init(JSONValue(parsing: data), known: known)
    }

    /// Reads the members of a body that has been parsed.
    /// - Throws: ``RequestError`` for a value that is not an object, or an unknown member.
    package init(_ json: JSONValue, known: Set<String>) throws(RequestError) {
        guard case .object(let members) = json else {
            throw RequestError(.invalid, code: "invalid_json", message: "the body must be a JSON object")
        }
        try self.init(members: members, path: nil, known: known)
    }

    /// - Parameter path: where the object stands in what was sent; `nil` at the top.
    package init(members: [String: JSONValue], path: String?, known: Set<String>) throws(RequestError) {
        self.members = members.filter { $0.value != .null }
        self.nulls = Set(members.filter { $0.value == .null }.keys)
        self.place = path
        for name in members.keys.sorted() where !known.contains(name) {
            throw self.refusal(name, "unknown_field", "known here: \(known.sorted().joined(separator: ", "))")
        }
    }

    package func string(_ name: String, maximum: Int) throws(RequestError) -> String? {
        switch self.members[name] {
        case nil: return nil
        case .string(let text):
            guard !text.isEmpty else { throw self.refusal(name, "invalid_value", "it must not be empty") }
            guard text.utf8.count <= maximum else {
                throw self.refusal(name, "too_long", "at most \(maximum) bytes, not \(text.utf8.count)")
            }
            return text
        default: throw self.wrongType(name, "a string")
        }
    }

    package func requiredString(_ name: String, maximum: Int) throws(RequestError) -> String {
        guard let text = try self.string(name, maximum: maximum) else {
            throw self.refusal(name, "missing_field", "this member is required")
        }
        return text
    }

    package func integer(_ name: String, in range: ClosedRange<Int64>) throws(RequestError) -> Int64? {
        switch self.members[name] {
        case nil: return nil
        case .integer(let value):
            guard range.contains(value) else {
                throw self.refusal(name, "invalid_value", "use \(range.lowerBound) to \(range.upperBound)")
            }
            return value
        default: throw self.wrongType(name, "an integer")
        }
    }

    package func bool(_ name: String) throws(RequestError) -> Bool? {
        switch self.members[name] {
        case nil: return nil
        case .bool(let value): return value
        default: throw self.wrongType(name, "true or false")
        }
    }

    package func strings(_ name: String, count: Int, maximum: Int) throws(RequestError) -> [String]? {
        guard let value = self.members[name] else { return nil }
        guard case .array(let values) = value else { throw self.wrongType(name, "an array of strings") }
        guard values.count <= count else {
            throw self.refusal(name, "too_many", "at most \(count) entries, not \(values.count)")
        }
        var texts: [String] = []
        for (index, value) in values.enumerated() {
            guard case .string(let text) = value, !text.isEmpty, text.utf8.count <= maximum else {
                throw self.refusal("\(name)[\(index)]", "invalid_value", "use strings of 1 to \(maximum) bytes")
            }
            texts.append(text)
        }
        return texts
    }

    package func object(_ name: String) throws(RequestError) -> [String: JSONValue]? {
        guard let value = self.members[name] else { return nil }
        guard case .object(let members) = value else { throw self.wrongType(name, "an object") }
        return members
    }

    /// The members of the object `name`, to be read in the same way.
    package func fields(_ name: String, known: Set<String>) throws(RequestError) -> JSONFields? {
        guard let members = try self.object(name) else { return nil }
        return try JSONFields(members: members, path: self.pathOf(name), known: known)
    }

    /// A fault of the member `name`.
    package func refusal(_ name: String, _ code: String, _ message: String) -> RequestError {
        RequestError(.invalid, code: code, message: message, path: self.pathOf(name))
    }

    package func wrongType(_ name: String, _ wanted: String) -> RequestError {
        self.refusal(name, "wrong_type", "it must be \(wanted)")
    }

    private func pathOf(_ name: String) -> String {
        self.place.map { "\($0).\(name)" } ?? name
    }
}
