import Foundation
package import PushSupport
package import PushTypes

extension JSONFields {
    /// Reads a text that stands for a value; `nil` if the member is absent.
    /// - Throws: ``RequestError`` with this code and message for a text that `read` does not know.
    package func value<Value>(
        _ name: String,
        maximum: Int,
        orElse code: String,
        _ message: @autoclosure () -> String,
        _ read: (String) -> Value?
    ) throws(RequestError) -> Value? {
        guard let text = try self.string(name, maximum: maximum) else { return nil }
        guard let value = read(text) else { throw self.error(name, code, message()) }
        return value
    }

    /// Returns an error of the object as a whole.
    func error(_ code: String, _ message: String) -> RequestError {
        RequestError(.invalid, code: code, message: message, path: self.place)
    }

    /// Reads a time zone by its name in the zone database; `nil` if the member is absent.
    func timeZone(_ name: String) throws(RequestError) -> TimeZone? {
        let limit = TimeZone.maximumName
        return try self.value(name, maximum: limit, orElse: "invalid_time_zone", Self.zoneForm) { TimeZone(named: $0) }
    }

    /// The message of an error about the name of a time zone.
    package static let zoneForm = "use a name such as Europe/Berlin"

    /// The first number that is read as milliseconds since 1970: 1973 in milliseconds, 5138 in seconds.
    package static let firstMilliseconds: Int64 = 100_000_000_000

    /// Reads a timestamp as RFC 3339 text or in seconds since 1970; `nil` if the member is absent.
    ///
    /// Milliseconds, the unit of version 0.1, are still read: see ``firstMilliseconds``.
    package func timestamp(_ name: String) throws(RequestError) -> Timestamp? {
        switch self.members[name] {
        case nil: return nil
        case .integer(let number):
            guard (0...253_402_300_799_999).contains(number)
            else { throw self.error(name, "invalid_time", "RFC 3339 text or seconds since 1970, up to the year 9999") }
            return number < Self.firstMilliseconds ? Timestamp(seconds: number) : Timestamp(milliseconds: number)
        case .string(let text):
            guard let timestamp = Timestamp(rfc3339: text) else {
                throw self.error(name, "invalid_time", "write it as 2026-11-25T09:30:00Z or 2026-11-25T10:30:00+01:00")
            }
            return timestamp
        default: throw self.wrongType(name, "RFC 3339 text or seconds since 1970")
        }
    }

    /// Reads the member `name`, which is an object or an array of up to `count`; empty if the member is absent.
    func objects(_ name: String, count: Int, known: Set<String>) throws(RequestError) -> [JSONFields] {
        guard case .array(let values)? = self.members[name] else {
            guard let single = try self.fields(name, known: known) else { return [] }
            return [single]
        }
        guard (1...count).contains(values.count)
        else { throw self.error(name, "invalid_value", "give 1 to \(count) of them, not \(values.count)") }
        var objects: [JSONFields] = []
        for (index, value) in values.enumerated() {
            let fault = self.wrongType("\(name)[\(index)]", "an object")
            guard case .object(let members) = value else { throw fault }
            objects.append(try JSONFields(members: members, path: fault.path, known: known))
        }
        return objects
    }
}
