package import PushSupport

/// The named audiences of an app that a request may refer to, as they are at one moment.
package struct NamedAudiences: Hashable, Sendable {
    /// The member of a condition that names one.
    package static let member = "named"
    /// The audience of a request that names none.
    package static let none = NamedAudiences([:])

    /// The conditions by their names, in the form of a request.
    private let conditions: [BytewiseString: [String: JSONValue]]

    package init(_ conditions: [BytewiseString: [String: JSONValue]]) { self.conditions = conditions }

    /// Returns the condition of that name; `nil` if there is none.
    func condition(_ name: String) -> [String: JSONValue]? { self.conditions[BytewiseString(name)] }

    /// Returns the names in an audience of a request, wherever conditions may stand.
    package static func names(in audience: JSONValue) -> Set<BytewiseString> {
        switch audience {
        case .object(let members):
            var names: Set<BytewiseString> = []
            if case .string(let name)? = members[Self.member] { names.insert(BytewiseString(name)) }
            for word in ["and", "or", "not"] { if let inner = members[word] { names.formUnion(Self.names(in: inner)) } }
            return names
        case .array(let elements): return elements.reduce(into: []) { $0.formUnion(Self.names(in: $1)) }
        case .string, .integer, .number, .bool, .null: return []
        }
    }
}
