import Foundation
import PushSupport

extension JSONValue {
    /// The value as indented JSON with sorted members.
    var indented: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// The value as one line of JSON.
    var line: String { (try? self.text).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    /// Parses a JSON object that was typed into a field; `nil` for an empty field.
    ///
    /// - Throws: ``RequestError`` that names the field, for a text that is no JSON object.
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

    /// Returns this object merged with another one. Where both have a member, objects are merged, and any other value
    /// is that of the other object.
    func merging(_ other: JSONValue) -> JSONValue {
        guard case .object(let left) = self, case .object(let right) = other else { return other }
        return .object(left.merging(right) { $0.merging($1) })
    }
}

/// A JSON object whose members are taken one after the other. The remaining members are those that no code has read.
struct RemainingMembers {
    private(set) var members: [String: JSONValue]

    init(_ json: JSONValue?) {
        if case .object(let members)? = json { self.members = members } else { self.members = [:] }
    }

    /// Removes a member that is a text, and returns it.
    mutating func text(_ name: String) -> String? {
        guard let text = self.members[name]?.stringValue else { return nil }
        self.members[name] = nil
        return text
    }

    /// Removes a member that is a text or a whole number, and returns it as a text.
    mutating func scalar(_ name: String) -> String? {
        if let number = self.members[name]?.integerValue {
            self.members[name] = nil
            return "\(number)"
        }
        return self.text(name)
    }

    /// Removes a member that has this value.
    ///
    /// - Returns: `true` if it was removed.
    mutating func take(_ name: String, if value: JSONValue) -> Bool {
        guard self.members[name] == value else { return false }
        self.members[name] = nil
        return true
    }

    /// Lets `read` take members of a member that is an object. The object is removed once it has no members left.
    mutating func object(_ name: String, _ read: (inout RemainingMembers) -> Void) {
        guard case .object? = self.members[name] else { return }
        var inner = RemainingMembers(self.members[name])
        read(&inner)
        self.members[name] = inner.members.isEmpty ? nil : .object(inner.members)
    }
}
