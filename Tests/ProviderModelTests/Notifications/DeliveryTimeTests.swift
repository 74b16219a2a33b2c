import Foundation
import PushSupport
import PushTypes
import Testing

@testable import ProviderModel

@Suite struct DeliveryTimeTests {
    static let acceptedAt = "2026-11-25T00:00:00Z"

    static func parse(_ json: String, expiration: Expiration = .servicePolicy) throws -> DeliveryTime {
        let outer = try fields(#"{"when":\#(json)}"#, known: ["when"])
        let accepted = try at(Self.acceptedAt)
        return try #require(
            try DeliveryTime.parse(in: outer, acceptedAt: accepted, expiration: expiration)
        )
    }

    static func start(_ json: String, _ name: String?) throws -> String? {
        let device = try name.map { try zone($0) }
        return try Self.parse(json).start(for: device, acceptedAt: at(Self.acceptedAt))?.rfc3339
    }

    @Test(
        arguments: [
            (#"{"at":"2026-11-25T09:00:00+01:00"}"#, "Asia/Tokyo", "2026-11-25T08:00:00Z"),
            (#"{"at":1795593600000}"#, nil, "2026-11-25T08:00:00Z"),
            (#"{"at":1795593600}"#, nil, "2026-11-25T08:00:00Z"),
            (#"{"at":"2026-11-24T23:59:30Z"}"#, nil, "2026-11-25T00:00:00Z"),
            (
                #"{"localTime":"2026-11-25T09:00","defaultTimeZone":"Europe/Berlin"}"#, "Asia/Tokyo",
                "2026-11-25T00:00:00Z"
            ),
            (
                #"{"localTime":"2026-11-25T09:30","defaultTimeZone":"Europe/Berlin"}"#, "Asia/Tokyo",
                "2026-11-25T00:30:00Z"
            ),
            (#"{"localTime":"2026-11-25T09:00","defaultTimeZone":"Europe/Berlin"}"#, nil, "2026-11-25T08:00:00Z"),
            (#"{"localTime":"2026-11-25T09:00"}"#, nil, "2026-11-25T09:00:00Z"),
            (#"{"localTime":"2026-11-25T09:00","timeZone":"Europe/Berlin"}"#, "Asia/Tokyo", "2026-11-25T08:00:00Z"),
            // It had passed in Auckland, where it is 13:00 already.
            (#"{"localTime":"2026-11-25T09:00"}"#, "Pacific/Auckland", "2026-11-25T00:00:00Z"),
            (#"{"localTime":"2026-11-25T09:00","past":"send"}"#, "Pacific/Auckland", "2026-11-25T00:00:00Z"),
            (#"{"localTime":"2026-11-25T09:00","past":"skip"}"#, "Pacific/Auckland", nil),
            (#"{"localTime":"2026-11-25T09:00","past":"nextDay"}"#, "Pacific/Auckland", "2026-11-25T20:00:00Z"),
            (#"{"localTime":"2026-11-24T22:00","past":"nextDay"}"#, "Pacific/Auckland", "2026-11-25T09:00:00Z"),
            (#"{"window":{"from":"09:00","to":"21:00"}}"#, "Europe/Berlin", "2026-11-25T08:00:00Z"),
            (#"{"window":{"from":"09:00","to":"21:00"}}"#, "Asia/Tokyo", "2026-11-25T00:00:00Z"),
            (
                #"{"window":{"from":"09:00","to":"21:00"},"timeZone":"Europe/Berlin"}"#, "Asia/Tokyo",
                "2026-11-25T08:00:00Z"
            ),
            (
                #"{"quietHours":{"from":"22:00","to":"07:00"},"timeZone":"device"}"#, "Europe/Berlin",
                "2026-11-25T06:00:00Z"
            ),
            (
                #"{"at":"2026-11-25T21:30:00Z","quietHours":{"from":"22:00","to":"07:00"}}"#, "Europe/Berlin",
                "2026-11-26T06:00:00Z"
            ),
            (
                #"{"localTime":"2026-11-28T12:00","window":{"from":"09:00","to":"17:00","days":["mon"]}}"#,
                "Europe/Berlin", "2026-11-30T08:00:00Z"
            ),
        ] as [(String, String?, String?)]
    )
    func whenDevicesOfAZoneStart(json: String, zone: String?, start: String?) throws {
        #expect(try Self.start(json, zone) == start)
    }

    @Test(arguments: ["Pacific/Kiritimati", "Asia/Tokyo", "Europe/Berlin", "America/New_York", "Pacific/Pago_Pago"])
    func noZoneStartsBeforeTheEarliestStart(name: String) throws {
        let (zone, accepted) = (try zone(name), try at(Self.acceptedAt))
        for json in [
            #"{"localTime":"2026-11-25T09:00","past":"nextDay"}"#, #"{"at":"2026-11-26T00:00:00Z"}"#,
            #"{"localTime":"2026-12-24T18:00"}"#, #"{"window":{"from":"09:00","to":"21:00"},"timeZone":"Asia/Tokyo"}"#,
        ] {
            let time = try Self.parse(json)
            let start = try #require(time.start(for: zone, acceptedAt: accepted))
            #expect(start >= time.earliestStart(acceptedAt: accepted))
            #expect(time.earliestStart(acceptedAt: accepted) >= accepted)
        }
    }

    @Test func aLongCampaignWaitsForTheNextOpening() throws {
        let time = try Self.parse(#"{"window":{"from":"09:00","to":"21:00"},"defaultTimeZone":"Europe/Berlin"}"#)
        let (open, closed) = (try at("2026-11-25T19:59:00Z"), try at("2026-11-25T20:00:00Z"))
        #expect(time.opening(onOrAfter: open, for: nil) == open)
        #expect(time.opening(onOrAfter: closed, for: nil).rfc3339 == "2026-11-26T08:00:00Z")
    }

    @Test(
        arguments: [
            (#"{"at":"2026-11-26T00:00:00Z"}"#, true), (#"{"localTime":"2026-11-26T00:00"}"#, false),
            (#"{"localTime":"2026-11-26T00:00","timeZone":"Asia/Tokyo"}"#, true),
            (#"{"at":"2026-11-26T00:00:00Z","quietHours":{"from":"22:00","to":"07:00"}}"#, false),
        ]
    )
    func itKnowsIfZonesMatter(json: String, isSame: Bool) throws {
        #expect(try Self.parse(json).isSameEverywhere == isSame)
    }

    @Test(
        arguments: [
            #"{"at":"2026-11-26T00:00:00.250Z"}"#,
            #"{"defaultTimeZone":"GMT","localTime":"2026-11-26T09:30","past":"nextDay","timeZone":"device"}"#,
            #"{"localTime":"2026-11-26T09:30:15","timeZone":"Europe/Berlin"}"#,
            #"{"at":"2026-11-26T00:00:00Z","timeZone":"Europe/Berlin","window":{"days":["mon"],"from":"09:00","to":"21:00"}}"#,
            #"{"defaultTimeZone":"Asia/Tokyo","quietHours":[{"from":"22:00","to":"07:00"},{"days":["sun","sat"]}],"timeZone":"device"}"#,
        ]
    )
    func theCanonicalFormIsReadAgain(json: String) throws {
        let time = try Self.parse(json)
        #expect(String(decoding: try time.json.text, as: UTF8.self) == json)
        #expect(try DeliveryTime(stored: time.json) == time)
    }

    @Test func theStoredFormMayLieInThePast() throws {
        let stored = try JSONValue(parsing: Data(#"{"at":"2001-01-01T00:00:00Z"}"#.utf8))
        let time = try DeliveryTime(stored: stored)
        #expect(try time.start(for: nil, acceptedAt: at(Self.acceptedAt)) == at(Self.acceptedAt))
        #expect(throws: RequestError.self) { try DeliveryTime(stored: .array([])) }
    }

    @Test(
        arguments: [
            ("{}", "missing_field", "when.at"), ("5", "wrong_type", "when"),
            (#"{"timeZone":"device"}"#, "missing_field", "when.at"),
            (#"{"at":"2026-11-24T23:58:59Z"}"#, "past_time", "when.at"),
            (#"{"at":1195593600}"#, "past_time", "when.at"), (#"{"at":-1}"#, "invalid_time", "when.at"),
            (#"{"at":9223372036854775807}"#, "invalid_time", "when.at"), (#"{"at":1.5}"#, "wrong_type", "when.at"),
            (#"{"at":"tomorrow"}"#, "invalid_time", "when.at"), (#"{"at":true}"#, "wrong_type", "when.at"),
            (#"{"at":"2028-11-25T00:00:00Z"}"#, "too_far_ahead", "when.at"),
            (#"{"at":"2026-11-26T00:00:00Z","localTime":"2026-11-26T00:00"}"#, "conflicting_field", "when.localTime"),
            (#"{"at":"2026-11-26T00:00:00Z","past":"send"}"#, "conflicting_field", "when.past"),
            (#"{"at":"2026-11-26T00:00:00Z","timeZone":"UTC"}"#, "conflicting_field", "when.timeZone"),
            (#"{"at":"2026-11-26T00:00:00Z","defaultTimeZone":"UTC"}"#, "conflicting_field", "when.defaultTimeZone"),
            (#"{"localTime":"2026-11-25T09:00Z"}"#, "invalid_time", "when.localTime"),
            (#"{"localTime":"2026-02-30T09:00"}"#, "invalid_time", "when.localTime"),
            (#"{"localTime":"9999-12-31T23:59"}"#, "too_far_ahead", "when.localTime"),
            // Past even in the westernmost zone.
            (#"{"localTime":"2026-11-24T11:58"}"#, "past_time", "when.localTime"),
            (#"{"localTime":"2026-11-25T08:00","timeZone":"Asia/Tokyo"}"#, "past_time", "when.localTime"),
            (#"{"localTime":"2026-11-26T09:00","past":"later"}"#, "invalid_value", "when.past"),
            (#"{"localTime":"2026-11-26T09:00","past":"skip","timeZone":"UTC"}"#, "conflicting_field", "when.past"),
            (
                #"{"localTime":"2026-11-26T09:00","defaultTimeZone":"Nowhere"}"#, "invalid_time_zone",
                "when.defaultTimeZone"
            ),
            (
                #"{"localTime":"2026-11-26T09:00","defaultTimeZone":"UTC","timeZone":"UTC"}"#, "conflicting_field",
                "when.defaultTimeZone"
            ),
            (#"{"window":{"from":"09:00","to":"21:00"},"timeZone":7}"#, "wrong_type", "when.timeZone"),
            (#"{"window":{"from":"09:00","to":"9"}}"#, "invalid_time", "when.window.to"),
            (#"{"windows":{}}"#, "unknown_field", "when.windows"),
        ]
    )
    func aFaultNamesItsMember(json: String, code: String, field: String) {
        let error = requestError { _ = try Self.parse(json) }
        #expect(error?.code == code)
        #expect(error?.path == field)
    }

    @Test(
        arguments: [
            (#"{"at":"2026-11-25T10:00:00Z"}"#, "when.at"),
            (#"{"localTime":"2026-11-25T11:00","defaultTimeZone":"Europe/Berlin"}"#, "when.localTime"),
            (#"{"window":{"from":"10:00","to":"11:00"}}"#, "when.window"),
            (#"{"quietHours":{"from":"22:00","to":"10:00"}}"#, "when.quietHours"),
        ]
    )
    func aStartAfterTheExpirationIsRejected(json: String, field: String) throws {
        let expiration = Expiration.at(seconds: try at("2026-11-25T10:00:00Z").seconds)
        let error = requestError { _ = try Self.parse(json, expiration: expiration) }
        #expect(error?.code == "starts_after_expiration")
        #expect(error?.path == field)
        let later = Expiration.at(seconds: try at("2026-11-25T10:00:01Z").seconds)
        #expect(throws: Never.self) { try Self.parse(json, expiration: later) }
        #expect(throws: Never.self) { try Self.parse(json, expiration: .immediate) }
    }
}
