import Foundation
import PushTypes
import Testing

@testable import ProviderModel

@Suite struct LocalTimeTests {
    @Test(arguments: ["00:00", "09:30", "23:59", "09:30:15"])
    func aTimeIsWrittenAsItWasRead(text: String) {
        #expect(LocalTime(text)?.description == text)
    }

    @Test(arguments: [
        "", "9:30", "09:3", "24:00", "23:60", "09:30:60", "09:30:", "09-30", "09:30 ", "+9:30", "٠٩:٣٠", "0930",
    ])
    func impossibleTimesAreRejected(text: String) {
        #expect(LocalTime(text) == nil)
    }

    @Test(arguments: ["2026-11-25T09:30", "2028-02-29T00:00", "0001-01-01T00:00", "9999-12-31T23:59:59"])
    func aDayAndTimeIsWrittenAsItWasRead(text: String) {
        #expect(LocalDateTime(text)?.description == text)
    }

    @Test(
        arguments: [
            "2026-02-29T09:30", "2100-02-29T09:30", "2026-13-01T09:30", "2026-00-01T09:30", "2026-11-31T09:30",
            "2026-11-25", "2026-11-25 09:30", "2026-11-25T09:30Z", "0000-01-01T00:00", "20261125T0930", "T",
        ]
    )
    func aDayOutsideTheCalendarIsRejected(text: String) {
        #expect(LocalDateTime(text) == nil)
    }

    @Test func daysAreCountedAsTheyAre() throws {
        var date = try #require(CivilDate(year: 1899, month: 12, day: 31))
        let end = try #require(CivilDate(year: 2101, month: 1, day: 1))
        var leapDays = 0
        while date < end {
            let next = date.next
            #expect(next.dayNumber == date.dayNumber + 1)
            #expect(CivilDate(year: next.year, month: next.month, day: next.day) == next)
            if next.month == 2, next.day == 29 { leapDays += 1 }
            date = next
        }
        #expect(leapDays == 49)
        #expect(CivilDate(year: 2026, month: 11, day: 25)?.weekday == .wednesday)
        #expect(CivilDate(dayNumber: -1).weekday == .wednesday)
    }

    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-25T10:30:00+01:00", 1_795_599_000_000),
            ("2026-11-25T09:30:00.5Z", 1_795_599_000_500), ("2026-11-25t09:30:00.123456789z", 1_795_599_000_123),
            ("1969-12-31T23:59:59.999Z", -1), ("2026-11-25T09:30Z", 1_795_599_000_000),
        ] as [(String, Int64)]
    )
    func aTimeIsParsed(text: String, milliseconds: Int64) throws {
        let timestamp = try at(text)
        #expect(timestamp.milliseconds == milliseconds)
        #expect(Timestamp(rfc3339: timestamp.rfc3339) == timestamp)
    }

    @Test(
        arguments: [
            "2026-11-25T09:30:00", "2026-11-25T09:30:00+0100", "2026-11-25T09:30:00+24:00", "2026-11-25T09:30:00.Z",
            "2026-11-25T09:30:00.1234567890Z", "2026-11-25T09:30:60Z", "2026-11-25T09:30:00Zx", "now", "",
            // A fraction is one of a second.
            "2026-11-25T09:30.5Z", "2026-11-25T09:30.500+01:00", "2026-11-25T09:30.Z",
        ]
    )
    func aTimestampWithoutAZoneOrWithGarbageIsRejected(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test func theEndsOfTimeAreWritten() {
        #expect(Timestamp(milliseconds: .max).rfc3339 == "9999-12-31T23:59:59Z")
        #expect(Timestamp(milliseconds: .min).rfc3339 == "0001-01-01T00:00:00Z")
    }

    @Test(
        arguments: [
            // An ordinary day.
            ("Europe/Berlin", "2026-11-25T09:00", "2026-11-25T08:00:00Z"),
            // Skipped: right after the gap. The hour after it is itself.
            ("Europe/Berlin", "2026-03-29T02:00", "2026-03-29T01:00:00Z"),
            ("Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:00:00Z"),
            ("Europe/Berlin", "2026-03-29T03:00", "2026-03-29T01:00:00Z"),
            ("Europe/Berlin", "2026-03-29T03:30", "2026-03-29T01:30:00Z"),
            // Twice: the first time.
            ("Europe/Berlin", "2026-10-25T02:00", "2026-10-25T00:00:00Z"),
            ("Europe/Berlin", "2026-10-25T02:59", "2026-10-25T00:59:00Z"),
            ("Europe/Berlin", "2026-10-25T03:00", "2026-10-25T02:00:00Z"),
            ("America/New_York", "2026-03-08T02:30", "2026-03-08T07:00:00Z"),
            ("America/New_York", "2026-11-01T01:30", "2026-11-01T05:30:00Z"),
            ("America/New_York", "2026-11-01T02:00", "2026-11-01T07:00:00Z"),
            // Half an hour only.
            ("Australia/Lord_Howe", "2026-10-04T02:00", "2026-10-03T15:30:00Z"),
            ("Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:30:00Z"),
            ("Australia/Lord_Howe", "2026-10-04T02:30", "2026-10-03T15:30:00Z"),
            ("Australia/Lord_Howe", "2026-04-05T01:45", "2026-04-04T14:45:00Z"),
            // A whole day that never was.
            ("Pacific/Apia", "2011-12-29T23:59", "2011-12-30T09:59:00Z"),
            ("Pacific/Apia", "2011-12-30T12:00", "2011-12-30T10:00:00Z"),
            ("Pacific/Apia", "2011-12-31T00:00", "2011-12-30T10:00:00Z"),
            ("Asia/Kathmandu", "2026-01-01T00:00", "2025-12-31T18:15:00Z"),
            ("UTC", "2028-02-29T12:00", "2028-02-29T12:00:00Z"),
        ]
    )
    func aLocalTimeOccursOnce(name: String, local: String, timestamp: String) throws {
        let local = try #require(LocalDateTime(local))
        #expect(try zone(name).timestamp(of: local) == at(timestamp))
    }

    @Test(arguments: ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca"])
    func laterOnTheWallIsNeverEarlier(name: String) throws {
        let zone = try zone(name)
        var local = try #require(LocalDateTime("2011-12-01T00:00")).localSeconds
        var last = Timestamp(milliseconds: .min)
        for _ in 0..<(400 * 96) {
            let timestamp = zone.timestamp(of: LocalDateTime(localSeconds: local))
            #expect(timestamp >= last)
            #expect(zone.local(at: timestamp).localSeconds >= local)
            last = timestamp
            local += 900
        }
    }

    @Test func theEndsOfTheCalendarDoNotTrap() throws {
        let berlin = try zone("Europe/Berlin")
        for milliseconds in [Int64.min, -1, 0, .max] {
            let local = berlin.local(at: Timestamp(milliseconds: milliseconds))
            #expect((0...10_000).contains(local.date.year))
        }
        let last = try #require(LocalDateTime("9999-12-31T23:59"))
        #expect(try berlin.timestamp(of: last) == at("9999-12-31T22:59:00Z"))
    }

    @Test(arguments: [
        "", "Europe/Nowhere", "../../etc/passwd", "+02:00", "Europe/Berlin\0", String(repeating: "a", count: 300),
    ])
    func anUnknownZoneFallsBackForADevice(name: String) throws {
        let (berlin, tokyo) = (try zone("Europe/Berlin"), try zone("Asia/Tokyo"))
        #expect(TimeZone(named: name) == nil)
        let local = try #require(LocalDateTime("2026-11-25T09:30"))
        let time = DeliveryTime(beginning: .local(local, past: .send), zone: .device(standard: berlin))
        let start = time.start(for: TimeZone(named: name), acceptedAt: Timestamp(seconds: 0))
        #expect(start == berlin.timestamp(of: local))
        #expect(time.start(for: tokyo, acceptedAt: Timestamp(seconds: 0)) == tokyo.timestamp(of: local))
    }
}
