import Foundation
import PushTypes
import Testing

@testable import ProviderModel

@Suite struct CronExpressionTests {
    static func runs(_ cron: String, _ name: String, after: String, count: Int) throws -> [String] {
        let expression = try CronExpression(cron)
        let zone = try zone(name)
        var timestamp = try at(after)
        var runs: [String] = []
        while runs.count < count, let next = expression.next(after: timestamp, in: zone) {
            #expect(next > timestamp)
            runs.append(next.rfc3339)
            timestamp = next
        }
        return runs
    }

    @Test(
        arguments: [
            ("30 9 * * *", "2026-11-25T09:30:00Z", "2026-11-26T09:30:00Z"),
            ("30 9 * * *", "2026-11-25T09:29:59.999Z", "2026-11-25T09:30:00Z"),
            ("* * * * *", "2026-11-25T09:30:00.001Z", "2026-11-25T09:31:00Z"),
            ("*/15 8-10 * * *", "2026-11-25T10:45:00Z", "2026-11-26T08:00:00Z"),
            ("5-30/10,59 * * * *", "2026-11-25T09:25:00Z", "2026-11-25T09:59:00Z"),
            ("0 9 * * mon-fri", "2026-11-27T09:00:00Z", "2026-11-30T09:00:00Z"),
            ("0 9 * * Fri-Sun", "2026-11-25T09:00:00Z", "2026-11-27T09:00:00Z"),
            ("0 0 * * 7", "2026-11-25T00:00:00Z", "2026-11-29T00:00:00Z"),
            ("0 0 * * 0", "2026-11-25T00:00:00Z", "2026-11-29T00:00:00Z"),
            ("0 0 * * 6-7", "2026-11-28T00:00:00Z", "2026-11-29T00:00:00Z"),
            ("0 0 1 JAN,Jul *", "2026-01-01T00:00:00Z", "2026-07-01T00:00:00Z"),
            // The day of month or the day of week, whichever comes first.
            ("0 0 13 * fri", "2026-11-09T00:00:00Z", "2026-11-13T00:00:00Z"),
            ("0 0 13 * fri", "2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z"),
            // A star does not restrict: the second day and a Friday.
            ("0 0 */2 * fri", "2026-11-20T00:00:00Z", "2026-11-27T00:00:00Z"),
            ("0 0 31 * *", "2026-11-01T00:00:00Z", "2026-12-31T00:00:00Z"),
            ("0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"),
            ("0 0 29 2 *", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"),
            ("59 23 31 12 *", "2026-12-31T23:59:00Z", "2027-12-31T23:59:00Z"),
            ("@hourly", "2026-11-25T09:00:00Z", "2026-11-25T10:00:00Z"),
            ("@daily", "2026-11-25T09:00:00Z", "2026-11-26T00:00:00Z"),
            ("@weekly", "2026-11-25T09:00:00Z", "2026-11-29T00:00:00Z"),
            ("@monthly", "2026-11-25T09:00:00Z", "2026-12-01T00:00:00Z"),
            ("@YEARLY", "2026-11-25T09:00:00Z", "2027-01-01T00:00:00Z"),
            (" 0\t0  1 1 * ", "1969-06-01T00:00:00Z", "1970-01-01T00:00:00Z"),
            ("0 0 1 1 *", "1900-06-01T00:00:00Z", "1901-01-01T00:00:00Z"),
        ]
    )
    func theNextRun(cron: String, after: String, next: String) throws {
        #expect(try Self.runs(cron, "UTC", after: after, count: 1) == [next])
    }

    @Test func aDayThatNeverComesIsNotSearchedForEver() throws {
        for cron in ["0 0 30 2 *", "* * 30-31 2 *", "0 0 31 2,4,6,9,11 *"] {
            let expression = try CronExpression(cron)
            #expect(expression.next(after: try at("2026-11-25T09:00:00Z"), in: try zone("Europe/Berlin")) == nil)
        }
        let sunday = try CronExpression("0 0 29 2 */7")
        #expect(try sunday.next(after: at("2092-01-01T00:00:00Z"), in: zone("UTC")) == at("2128-02-29T00:00:00Z"))
    }

    @Test func theCalendarEndsWithoutATrap() throws {
        let cron = try CronExpression("* * * * *")
        let fixed = try CronExpression("0 0 1 1 *")
        // The last minute of the calendar, which must not come again and again.
        let last = try CronExpression("59 23 31 12 7")
        for zone in [try zone("UTC"), try zone("Pacific/Kiritimati"), try zone("America/Los_Angeles")] {
            for milliseconds in [253_402_300_799_000, Int64.max] {
                #expect(fixed.next(after: Timestamp(milliseconds: milliseconds), in: zone) == nil)
                _ = cron.next(after: Timestamp(milliseconds: milliseconds), in: zone)
            }
            #expect(last.next(after: Timestamp(milliseconds: .max), in: zone) == nil)
            #expect(cron.next(after: Timestamp(milliseconds: .min), in: zone) != nil)
        }
        #expect(cron.next(after: Timestamp(milliseconds: .max), in: try zone("UTC")) == nil)
    }

    @Test(
        arguments: [
            // Fixed times in the gap run once right after it, and are themselves again the next day.
            ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"]),
            (
                "0,30 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
                ["2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"]
            ),
            (
                "30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z",
                ["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"]
            ),
            (
                "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z",
                ["2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"]
            ),
            // Fixed times that come twice run the first time.
            ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]),
            (
                "30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z",
                ["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"]
            ),
            (
                "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z",
                ["2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"]
            ),
            // Asked in the second pass.
            ("30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", ["2026-10-26T01:30:00Z"]),
            // Wildcards count the time that passes: nothing in the gap, twice in the repeated hour.
            ("*/30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-30T00:00:00Z"]),
            ("0 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", ["2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"]),
            (
                "30 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z",
                ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z"]
            ),
            (
                "*/30 * * * *", "Australia/Lord_Howe", "2026-04-04T14:00:00Z",
                ["2026-04-04T14:30:00Z", "2026-04-04T15:00:00Z", "2026-04-04T15:30:00Z"]
            ),
            (
                "0 0-23 * * *", "Europe/Berlin", "2026-10-24T23:30:00Z",
                ["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"]
            ),
            // The day that never was: its run is right after it, before that of the next day.
            (
                "0 9 * * *", "Pacific/Apia", "2011-12-29T19:00:00Z",
                ["2011-12-30T10:00:00Z", "2011-12-30T19:00:00Z", "2011-12-31T19:00:00Z"]
            ),
        ] as [(String, String, String, [String])]
    )
    func changesOfTheClocks(cron: String, zone: String, after: String, runs: [String]) throws {
        #expect(try Self.runs(cron, zone, after: after, count: runs.count) == runs)
    }

    @Test func aDailyJobRunsOncePerDayForYears() throws {
        for name in ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca"] {
            let runs = try Self.runs("30 2 * * *", name, after: "2026-01-01T12:00:00Z", count: 1461)
            let zone = try zone(name)
            let days = try runs.map { zone.local(at: try at($0)).date.dayNumber }
            #expect(zip(days, days.dropFirst()).allSatisfy { $1 == $0 + 1 })
        }
    }

    @Test(
        arguments: [
            ("", nil, "five fields"), ("* * * *", nil, "not 4"), ("* * * * * *", nil, "not 6"),
            ("@reboot", nil, "@daily"), ("@daily x", nil, "@daily"),
            ("60 * * * *", .minute, "0 to 59"), ("-1 * * * *", .minute, "not a value"),
            ("a * * * *", .minute, "not a value"),
            ("* 24 * * *", .hour, "0 to 23"), ("* * 0 * *", .dayOfMonth, "1 to 31"), ("* * 32 * *", .dayOfMonth, "32"),
            ("* * L * *", .dayOfMonth, "not a value"), ("* * ? * *", .dayOfMonth, "not a value"),
            ("* * * 13 *", .month, "1 to 12"), ("* * * mon *", .month, "jan"), ("* * * * 8", .dayOfWeek, "0 to 7"),
            ("* * * * montag", .dayOfWeek, "sun"), ("30-10 * * * *", .minute, "backwards"),
            ("*/0 * * * *", .minute, "step"), ("*/90 * * * *", .minute, "step"), ("*/ * * * *", .minute, "step"),
            ("5/10 * * * *", .minute, "*/5"), ("*/5/5 * * * *", .minute, "step"), ("1,,2 * * * *", .minute, "empty"),
            (", * * * *", .minute, "empty"), ("1-2-3 * * * *", .minute, "not a value"),
            ("+1 * * * *", .minute, "not a value"),
            ("99999999999999999999 * * * *", .minute, "not a value"), ("٣ * * * *", .minute, "not a value"),
            (String(repeating: "1,", count: 200) + "1 * * * *", nil, "256"),
        ] as [(String, CronField?, String)]
    )
    func aFaultNamesItsField(text: String, field: CronField?, hint: String) {
        let fault = #expect(throws: CronError.self) { try CronExpression(text) }
        #expect(fault?.field == field)
        #expect(fault?.message.contains(hint) == true, "\(String(describing: fault))")
    }
}
