import Foundation
import PushSupport
import PushTypes
import Testing

@testable import ProviderModel

@Suite struct SendWindowTests {
    static func window(_ json: String) throws -> SendWindow {
        try #require(try SendWindow.parse(fields(json, known: ["window", "quietHours"])))
    }

    static let day = #"{"window":{"from":"09:00","to":"21:00"}}"#
    static let night = #"{"quietHours":{"from":"22:00","to":"07:00"}}"#
    static let working = #"{"window":{"from":"09:00","to":"17:00","days":["mon","tue","wed","thu","fri"]}}"#
    static let fridayNight = #"{"window":{"from":"22:00","to":"06:00","days":["fri"]}}"#

    @Test(
        arguments: [
            // Berlin is an hour ahead in winter. 2026-11-27 is a Friday.
            (day, "2026-11-25T07:59:59.999Z", "2026-11-25T08:00:00Z", "2026-11-25T07:59:59.999Z"),
            (day, "2026-11-25T08:00:00.001Z", "2026-11-25T08:00:00.001Z", "2026-11-25T20:00:00Z"),
            (day, "2026-11-25T20:00:00Z", "2026-11-26T08:00:00Z", "2026-11-25T20:00:00Z"),
            (night, "2026-11-25T21:00:00Z", "2026-11-26T06:00:00Z", "2026-11-25T21:00:00Z"),
            (night, "2026-11-26T05:00:00Z", "2026-11-26T06:00:00Z", "2026-11-26T05:00:00Z"),
            (night, "2026-11-26T12:00:00Z", "2026-11-26T12:00:00Z", "2026-11-26T21:00:00Z"),
            (working, "2026-11-27T16:00:00Z", "2026-11-30T08:00:00Z", "2026-11-27T16:00:00Z"),
            (working, "2026-11-28T10:00:00Z", "2026-11-30T08:00:00Z", "2026-11-28T10:00:00Z"),
            (fridayNight, "2026-11-28T04:59:00Z", "2026-11-28T04:59:00Z", "2026-11-28T05:00:00Z"),
            (fridayNight, "2026-11-27T04:59:00Z", "2026-11-27T21:00:00Z", "2026-11-27T04:59:00Z"),
            (fridayNight, "2026-11-28T05:00:00Z", "2026-12-04T21:00:00Z", "2026-11-28T05:00:00Z"),
        ]
    )
    func itOpensAndCloses(json: String, timestamp: String, opens: String, closes: String) throws {
        let (window, berlin, timestamp) = (try Self.window(json), try zone("Europe/Berlin"), try at(timestamp))
        #expect(window.nextOpening(onOrAfter: timestamp, in: berlin).rfc3339 == opens)
        #expect(window.closes(after: timestamp, in: berlin)?.rfc3339 == closes)
        #expect(window.isOpen(at: timestamp, in: berlin) == (timestamp.rfc3339 == opens))
    }

    @Test(
        arguments: [
            // Spring: the opening is skipped, so it opens right after the gap.
            ("Europe/Berlin", "02:30", "05:00", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z", "2026-03-29T03:00:00Z"),
            (
                "America/New_York", "02:15", "04:00", "2026-03-08T06:00:00Z", "2026-03-08T07:00:00Z",
                "2026-03-08T08:00:00Z"
            ),
            (
                "Australia/Lord_Howe", "02:10", "04:00", "2026-10-03T14:00:00Z", "2026-10-03T15:30:00Z",
                "2026-10-03T17:00:00Z"
            ),
            // All of it is skipped: the next day.
            ("Europe/Berlin", "02:10", "02:50", "2026-03-29T00:00:00Z", "2026-03-30T00:10:00Z", "2026-03-30T00:50:00Z"),
            // Autumn: hours that come twice are open twice.
            ("Europe/Berlin", "02:30", "05:00", "2026-10-24T23:00:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z"),
            ("Europe/Berlin", "02:30", "05:00", "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z", "2026-10-25T04:00:00Z"),
            // The day before and after a day that never was.
            ("Pacific/Apia", "09:00", "21:00", "2011-12-30T08:00:00Z", "2011-12-30T19:00:00Z", "2011-12-31T07:00:00Z"),
        ]
    )
    func changesOfTheClocks(
        name: String,
        from: String,
        to: String,
        timestamp: String,
        opens: String,
        closes: String
    ) throws {
        let window = try Self.window(#"{"window":{"from":"\#(from)","to":"\#(to)"}}"#)
        let zone = try zone(name)
        let opening = window.nextOpening(onOrAfter: try at(timestamp), in: zone)
        #expect(opening.rfc3339 == opens)
        #expect(window.isOpen(at: opening, in: zone))
        #expect(window.closes(after: opening, in: zone)?.rfc3339 == closes)
    }

    @Test func aWeekdayThatAZoneLeftOutIsWaitedForTwoWeeks() throws {
        let window = try Self.window(#"{"window":{"from":"09:00","to":"10:00","days":["fri"]}}"#)
        let apia = try zone("Pacific/Apia")
        // 2011-12-23 10:00 on the wall is UTC-10; the next Friday never was.
        let opening = window.nextOpening(onOrAfter: try at("2011-12-23T20:00:00Z"), in: apia)
        #expect(apia.local(at: opening).description == "2012-01-06T09:00")
    }

    @Test func windowAndQuietHoursMeet() throws {
        let window = try Self.window(
            #"{"window":[{"from":"08:00","to":"18:00"},{"days":["sat"]}],"quietHours":{"from":"12:00","to":"14:00"}}"#
        )
        let utc = try zone("UTC")
        #expect(
            window.nextOpening(onOrAfter: try at("2026-11-25T12:30:00Z"), in: utc).rfc3339 == "2026-11-25T14:00:00Z"
        )
        #expect(
            window.nextOpening(onOrAfter: try at("2026-11-27T18:30:00Z"), in: utc).rfc3339 == "2026-11-28T00:00:00Z"
        )
        #expect(window.closes(after: try at("2026-11-28T14:00:00Z"), in: utc)?.rfc3339 == "2026-11-29T00:00:00Z")
    }

    @Test func hoursThatNeverCloseReturnNil() throws {
        let window = try Self.window(#"{"window":[{"from":"08:00","to":"20:00"},{"from":"20:00","to":"08:00"}]}"#)
        #expect(window.closes(after: try at("2026-11-28T14:00:00Z"), in: try zone("Europe/Berlin")) == nil)
    }

    @Test func theEndsOfTimeDoNotTrap() throws {
        let window = try Self.window(Self.working)
        for milliseconds in [Int64.min, -1, 253_402_300_799_999, .max] {
            let timestamp = Timestamp(milliseconds: milliseconds)
            #expect(
                window.nextOpening(onOrAfter: timestamp, in: try zone("America/New_York")) >= timestamp
                    || milliseconds == .max
            )
            _ = window.closes(after: timestamp, in: try zone("Pacific/Apia"))
        }
    }

    @Test(
        arguments: [
            (#"{"window":{"from":"09:00","to":"09:00"}}"#, "invalid_value", "window.to"),
            (#"{"window":{"from":"09:00"}}"#, "missing_field", "window.to"),
            (#"{"window":{"to":"09:00"}}"#, "missing_field", "window.from"),
            (#"{"window":{}}"#, "missing_field", "window.from"),
            (#"{"window":{"from":"9","to":"21:00"}}"#, "invalid_time", "window.from"),
            (#"{"window":{"from":"09:00","to":"24:00"}}"#, "invalid_time", "window.to"),
            (#"{"window":{"from":"09:00","to":"21:00","days":[]}}"#, "invalid_value", "window.days"),
            (#"{"window":{"from":"09:00","to":"21:00","days":["xyz"]}}"#, "invalid_value", "window.days[0]"),
            (#"{"window":{"from":"09:00","to":"21:00","day":"mon"}}"#, "unknown_field", "window.day"),
            (#"{"window":[{"from":"09:00","to":"21:00"},5]}"#, "wrong_type", "window[1]"),
            (#"{"window":[{"from":"09:00","to":"2100"}]}"#, "invalid_time", "window[0].to"),
            (#"{"window":[]}"#, "invalid_value", "window"), (#"{"window":7}"#, "wrong_type", "window"),
            (#"{"quietHours":{"days":["mon","tue","wed","thu","fri","sat","sun"]}}"#, "never_open", "quietHours"),
            (
                #"{"window":{"from":"23:00","to":"05:00"},"quietHours":{"from":"22:00","to":"07:00"}}"#, "never_open",
                "quietHours"
            ),
            (
                #"{"window":{"days":["sat"]},"quietHours":[{"days":["sat","sun"]},{"from":"08:00","to":"10:00"}]}"#,
                "never_open", "quietHours"
            ),
        ]
    )
    func aFaultNamesItsMember(json: String, code: String, field: String) {
        let error = requestError { _ = try SendWindow.parse(fields(json, known: ["window", "quietHours"])) }
        #expect(error?.code == code)
        #expect(error?.path == field)
    }
}
