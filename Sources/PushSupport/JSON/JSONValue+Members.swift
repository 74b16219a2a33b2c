/// The ways in which responses are read and requests made.
extension JSONValue {
    /// The member with a name; `null` if there is none.
    package subscript(name: String) -> JSONValue {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }

    /// The value of a text; `nil` for any other value.
    package var stringValue: String? { if case .string(let text) = self { text } else { nil } }

    /// The value of a whole number; `nil` for any other value.
    package var integerValue: Int64? { if case .integer(let value) = self { value } else { nil } }

    /// The value of any number, whole ones included.
    package var numberValue: Double? {
        if case .number(let value) = self { value } else { self.integerValue.map(Double.init) }
    }

    /// The elements of an array; empty for any other value.
    package var elements: [JSONValue] { if case .array(let values) = self { values } else { [] } }

    /// Makes an object of the members that have a value.
    package static func members(_ members: [String: JSONValue?]) -> JSONValue {
        .object(members.compactMapValues { $0 })
    }

    /// Makes an array of texts; `nil` for none, so that the member is left out.
    package static func texts(_ texts: [String]) -> JSONValue? {
        texts.isEmpty ? nil : .array(texts.map(JSONValue.string))
    }
}
