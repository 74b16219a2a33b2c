import Foundation
package import PushSupport
package import PushTypes

extension Member {
    /// Creates a request member for the name of a time zone in the zone database. Its value is the time zone.
    static func timeZone(_ name: String) -> RequestMember<TimeZone> {
        Self.zoneText(name).parsed("invalid_time_zone", Self.zoneForm) { TimeZone(named: $0) }
    }

    /// Creates a request member for the name of a time zone in the zone database. Its value is the name as given.
    package static func zoneName(_ name: String) -> RequestMember<String> {
        Self.zoneText(name).checked("invalid_time_zone", Self.zoneForm) { TimeZone(named: $0) != nil }
    }

    private static func zoneText(_ name: String) -> RequestMember<String> {
        Self.text(name, maximum: TimeZone.maximumName, as: .timeZone)
    }

    private static let zoneForm = "use a name such as Europe/Berlin"

    /// Creates a request member that holds a time, in RFC 3339 or in seconds since 1970.
    package static func time(_ name: String) -> RequestMember<Timestamp> {
        RequestMember<Timestamp>(name, .time) { (fields, name) throws(RequestError) in try fields.timestamp(name) }
    }
}

extension Schema {
    /// The schema for a time in RFC 3339. The seconds may be left out, but not before a fraction.
    package static let rfc3339 = Schema.string(
        length: 17...40,
        pattern: "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]([01][0-9]|2[0-3]):[0-5][0-9]"
            + "(:[0-5][0-9](\\.[0-9]{1,9})?)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
    )

    /// The schema for a time, in RFC 3339 or in seconds since 1970.
    package static let time = Schema.any(of: [.rfc3339, .integer(JSONFields.numbersOfTimes)])
        .described("RFC 3339, or seconds since 1970. Numbers from 10^11 on are milliseconds, which is deprecated.")

    /// The schema for a time of day, such as `09:30` or `09:30:15`.
    package static let clockTime = Schema.string(
        length: 5...8,
        pattern: "^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$"
    )

    /// The schema for the name of a time zone.
    package static let timeZone = Schema.string(length: 1...TimeZone.maximumName, pattern: "^[A-Za-z0-9/_+-]+$")
}

extension JSONFields {
    /// The smallest number that is read as milliseconds since 1970 instead of seconds. Read as milliseconds it is in
    /// the year 1973, and as seconds in the year 5138.
    package static let firstMilliseconds: Int64 = 100_000_000_000

    /// The range of numbers that are accepted as times, up to the year 9999 in milliseconds.
    fileprivate static let numbersOfTimes: ClosedRange<Int64> = 0...253_402_300_799_999

    /// Reads a timestamp as RFC 3339 text or in seconds since 1970, or returns `nil` if the member is absent.
    ///
    /// Milliseconds, the unit of version 0.1, are still read (``firstMilliseconds``).
    package func timestamp(_ name: String) throws(RequestError) -> Timestamp? {
        switch self.members[name] {
        case nil: return nil
        case .integer(let number):
            guard Self.numbersOfTimes.contains(number)
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
}
