import Foundation
import PushHTTP
import PushSupport

extension JSONValue {
    /// The value as indented JSON with its members in order, for people.
    var indented: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// The value as one line of JSON.
    var line: String { (try? self.text).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    /// Parses what was typed into a field; `nil` for an empty one.
    ///
    /// - Throws: ``RequestError`` that names the field, for anything but a JSON object.
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

    /// Returns this object with the members of another one, which count where both have a value that is no object.
    func merging(_ other: JSONValue) -> JSONValue {
        guard case .object(let left) = self, case .object(let right) = other else { return other }
        return .object(left.merging(right) { $0.merging($1) })
    }
}

/// An object whose members are taken one after the other, so that what is left shows what nobody understood.
struct RemainingMembers {
    private(set) var members: [String: JSONValue]

    init(_ json: JSONValue?) {
        if case .object(let members)? = json { self.members = members } else { self.members = [:] }
    }

    /// Takes a member if it is a text.
    mutating func text(_ name: String) -> String? {
        guard let text = self.members[name]?.stringValue else { return nil }
        self.members[name] = nil
        return text
    }

    /// Takes a member if it is a text or a whole number.
    mutating func scalar(_ name: String) -> String? {
        if let number = self.members[name]?.integerValue {
            self.members[name] = nil
            return "\(number)"
        }
        return self.text(name)
    }

    /// Takes a member if it has this value.
    mutating func take(_ name: String, if value: JSONValue) -> Bool {
        guard self.members[name] == value else { return false }
        self.members[name] = nil
        return true
    }

    /// Takes what `read` leaves of an object; the member stays if anything is left.
    mutating func object(_ name: String, _ read: (inout RemainingMembers) -> Void) {
        guard case .object? = self.members[name] else { return }
        var inner = RemainingMembers(self.members[name])
        read(&inner)
        self.members[name] = inner.members.isEmpty ? nil : .object(inner.members)
    }
}
