import Foundation
import PushSupport

extension JSONValue {
    /// The value as indented JSON with sorted members, or an empty string if it cannot be encoded.
    var indented: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    var line: String { (try? self.text).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    /// Parses a JSON object from the value of a field. Returns `nil` for an empty field.
    /// - Throws: ``RequestError`` that names the field, for a value that is not a JSON object.
    static func object(typed text: String, in field: String) throws(RequestError) -> [String: JSONValue]? {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { return nil }
        let json: JSONValue
        do {
            json = try JSONValue(parsing: Data(text.utf8))
        } catch {
            throw RequestError.invalid(field, error.message)
        }
        guard case .object(let members) = json else {
            throw RequestError.invalid(field, "use a JSON object, such as {\"name\": \"value\"}")
        }
        return members
    }

    /// Returns this value merged with another one. Objects are merged member by member. If one of the two is not an
    /// object, the result is `other`.
    func merging(_ other: JSONValue) -> JSONValue {
        guard case .object(let left) = self, case .object(let right) = other else { return other }
        return .object(left.merging(right) { $0.merging($1) })
    }
}

/// A JSON object whose members are consumed one after the other. Afterwards, it contains those that were not consumed.
struct RemainingMembers {
    private(set) var members: [String: JSONValue]

    init(_ json: JSONValue?) {
        if case .object(let members)? = json { self.members = members } else { self.members = [:] }
    }

    /// Removes and returns a member that is a string. Any other value stays, and `nil` is returned.
    mutating func text(_ name: String) -> String? {
        guard let text = self.members[name]?.stringValue else { return nil }
        self.members[name] = nil
        return text
    }

    /// Removes a member that is a string or an integer, and returns it as a string. Any other value stays, and `nil` is
    /// returned.
    mutating func scalar(_ name: String) -> String? {
        if let number = self.members[name]?.integerValue {
            self.members[name] = nil
            return "\(number)"
        }
        return self.text(name)
    }

    /// Removes a member if it has the given value.
    /// - Returns: `true` if the member was removed, and `false` otherwise.
    mutating func take(_ name: String, if value: JSONValue) -> Bool {
        guard self.members[name] == value else { return false }
        self.members[name] = nil
        return true
    }

    /// Calls `read` to consume members of a nested object. The nested object is removed once it has no members left.
    mutating func object(_ name: String, _ read: (inout RemainingMembers) -> Void) {
        guard case .object? = self.members[name] else { return }
        var inner = RemainingMembers(self.members[name])
        read(&inner)
        self.members[name] = inner.members.isEmpty ? nil : .object(inner.members)
    }
}
