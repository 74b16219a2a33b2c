import PushSupport

/// The members of a JSON object, read by the rules of Go's JSON decoder.
///
/// Names are matched regardless of case. `null` and an empty string are treated as absent members. A wrong type is an
/// error of the whole request. Unknown members are ignored.
struct GorushFields {
    private let members: [String: JSONValue]
    /// The members whose names contain capital letters, by their names in lower case.
    private let folded: [String: JSONValue]

    /// Reads the members of an object. Throws ``GorushError/missing`` for a value that is not an object.
    init(_ value: JSONValue) throws(GorushError) {
        guard case .object(let members) = value else { throw .missing }
        self.init(members)
    }

    init(_ members: [String: JSONValue]) {
        self.members = members
        let capitals = members.filter { $0.key.utf8.contains { (65...90).contains($0) } }.sorted { $0.key < $1.key }
        self.folded = Dictionary(capitals.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    }

    /// Returns the member with a name, or one whose name differs only in case. Returns `nil` if there is none or its
    /// value is `null`.
    private func value(_ name: String) -> JSONValue? {
        let value = self.members[name] ?? self.folded[name]
        return value == .null ? nil : value
    }

    /// Returns the string of a member, or `nil` if it is absent or empty. Throws ``GorushError`` for another type.
    func text(_ name: String) throws(GorushError) -> String? {
        switch self.value(name) {
        case nil: return nil
        case .string(let text)?: return text.isEmpty ? nil : text
        default: throw .missing
        }
    }

    func integer(_ name: String) throws(GorushError) -> Int64? {
        switch self.value(name) {
        case nil: return nil
        case .integer(let number)?: return number
        default: throw .missing
        }
    }

    func number(_ name: String) throws(GorushError) -> JSONValue? {
        switch self.value(name) {
        case nil: return nil
        case .integer(let number)?: return .integer(number)
        case .number(let number)?: return .number(number)
        default: throw .missing
        }
    }

    func flag(_ name: String) throws(GorushError) -> Bool {
        switch self.value(name) {
        case nil: return false
        case .bool(let flag)?: return flag
        default: throw .missing
        }
    }

    /// Returns the strings of an array. The result is empty if the array is absent. An element `null` becomes an empty
    /// string. Throws ``GorushError`` for another type.
    func texts(_ name: String) throws(GorushError) -> [String] {
        guard let value = self.value(name) else { return [] }
        guard case .array(let values) = value else { throw .missing }
        var texts: [String] = []
        texts.reserveCapacity(values.count)
        for value in values {
            switch value {
            case .string(let text): texts.append(text)
            case .null: texts.append("")
            default: throw .missing
            }
        }
        return texts
    }

    /// Returns the members of an object, or none if it is absent. Throws ``GorushError`` for another type.
    func object(_ name: String) throws(GorushError) -> [String: JSONValue] {
        switch self.value(name) {
        case nil: return [:]
        case .object(let members)?: return members
        default: throw .missing
        }
    }

    /// Returns the elements of an array, or `nil` if it is absent. Throws ``GorushError`` for another type.
    func array(_ name: String) throws(GorushError) -> [JSONValue]? {
        switch self.value(name) {
        case nil: return nil
        case .array(let values)?: return values
        default: throw .missing
        }
    }

    func any(_ name: String) -> JSONValue? { self.value(name) }
}
