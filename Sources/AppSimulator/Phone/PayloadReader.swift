import Foundation
package import PushSupport

/// Reads the members of a payload's object with types. A member of a wrong type is a problem, and counts as absent.
struct PayloadReader {
    private let members: [String: JSONValue]
    /// The path of the object for problems, such as `aps.alert`.
    private let path: String
    /// The problems so far, each with the path of its member.
    private(set) var problems: [String] = []

    init(_ members: [String: JSONValue], path: String) { (self.members, self.path) = (members, path) }

    /// Returns a member that may have several types; `nil` if it is absent or null.
    func value(_ name: String) -> JSONValue? {
        let value = self.members[name]
        return value == .null ? nil : value
    }

    /// Returns a text.
    mutating func text(_ name: String) -> String? {
        guard let value = self.value(name) else { return nil }
        if case .string(let text) = value { return text }
        self.reject(name, "is not a text")
        return nil
    }

    /// Returns an object.
    mutating func object(_ name: String) -> [String: JSONValue]? {
        guard let value = self.value(name) else { return nil }
        if case .object(let members) = value { return members }
        self.reject(name, "is not an object")
        return nil
    }

    /// Returns texts. Elements that are no texts are written as JSON.
    mutating func texts(_ name: String) -> [String] {
        guard let value = self.value(name) else { return [] }
        guard case .array(let elements) = value else {
            self.reject(name, "is not an array")
            return []
        }
        return elements.map(PhoneText.plain)
    }

    /// Returns any number.
    mutating func number(_ name: String) -> Double? {
        switch self.value(name) {
        case nil: return nil
        case .integer(let number)?: return Double(number)
        case .number(let number)?: return number
        default:
            self.reject(name, "is not a number")
            return nil
        }
    }

    /// Returns a whole number that is not negative.
    mutating func count(_ name: String) -> Int? {
        guard let value = self.value(name) else { return nil }
        if case .integer(let number) = value, number >= 0 { return Int(exactly: number) }
        self.reject(name, "is not a whole number of 0 or more")
        return nil
    }

    /// Returns `true` if a member is the number 1, which is how payloads say yes (reference 3.1).
    mutating func isOne(_ name: String) -> Bool {
        switch self.value(name) {
        case nil, .integer(0)?: return false
        case .integer(1)?: return true
        default:
            self.reject(name, "is not the number 1")
            return false
        }
    }

    /// Returns a time in seconds since 1970.
    mutating func time(_ name: String) -> Date? {
        guard let seconds = self.number(name) else { return nil }
        guard (0...Self.latestTime).contains(seconds) else {
            self.reject(name, "is not a time in seconds since 1970")
            return nil
        }
        return Date(timeIntervalSince1970: seconds)
    }

    /// The end of the year 9999, beyond which calendars cannot show a time.
    private static let latestTime: Double = 253_402_300_799

    /// Notes a problem of a member.
    mutating func reject(_ name: String, _ what: String) {
        self.problems.append("\(self.path).\(name) \(what)")
    }

    /// Takes over the problems of an object within this one.
    mutating func add(problemsOf inner: PayloadReader) { self.problems += inner.problems }
}

/// Values of payloads as people read them.
package enum PhoneText {
    /// Returns a text without quotes, and any other value as JSON.
    package static func plain(_ value: JSONValue) -> String {
        if case .string(let text) = value { return text }
        return (try? value.text).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
