import Foundation
import PushSupport
import PushTypes
import Testing

@testable import ProviderModel

@Suite struct RecurringScheduleTests {
    static func schedule(
        _ cron: String,
        _ missed: RecurringSchedule.MissedRuns = .runOnce(maximumLateness: .seconds(3600))
    ) throws -> RecurringSchedule {
        RecurringSchedule(cron: try CronExpression(cron), timeZone: try zone("Europe/Berlin"), missedRuns: missed)
    }

    @Test func nothingIsDueBeforeItsTime() throws {
        let schedule = try Self.schedule("0 9 * * *")
        let next = try at("2026-11-25T08:00:00Z")
        #expect(schedule.due(nextRun: next, now: try at("2026-11-25T07:59:59.999Z")) == .init(runs: [], next: next))
        // A clock that went back.
        #expect(schedule.due(nextRun: next, now: try at("2026-01-01T00:00:00Z")) == .init(runs: [], next: next))
    }

    @Test(arguments: [RecurringSchedule.MissedRuns.skip, .runOnce(maximumLateness: .seconds(60)), .runAll(maximum: 3)])
    func aRunOnTimeRunsUnderEveryPolicy(missed: RecurringSchedule.MissedRuns) throws {
        let schedule = try Self.schedule("0 9 * * *", missed)
        let run = try at("2026-11-25T08:00:00Z")
        for late in [0, 5000, 60_000] {
            let due = schedule.due(nextRun: run, now: Timestamp(milliseconds: run.milliseconds + Int64(late)))
            #expect(due == .init(runs: [run], next: try at("2026-11-26T08:00:00Z")))
        }
    }

    @Test(
        arguments: [
            (.skip, []), (.runOnce(maximumLateness: .seconds(3600)), ["2026-11-25T11:30:00Z"]),
            (.runOnce(maximumLateness: .seconds(60)), []), (.runOnce(maximumLateness: .seconds(600)), []),
            (.runAll(maximum: 2), ["2026-11-25T11:00:00Z", "2026-11-25T11:30:00Z"]),
            (
                .runAll(maximum: 10),
                ["2026-11-25T10:00:00Z", "2026-11-25T10:30:00Z", "2026-11-25T11:00:00Z", "2026-11-25T11:30:00Z"]
            ),
        ] as [(RecurringSchedule.MissedRuns, [String])]
    )
    func missedRunsFollowThePolicy(missed: RecurringSchedule.MissedRuns, runs: [String]) throws {
        let schedule = try Self.schedule("*/30 * * * *", missed)
        let due = schedule.due(nextRun: try at("2026-11-25T10:00:00Z"), now: try at("2026-11-25T11:40:00Z"))
        #expect(due.runs.map(\.rfc3339) == runs)
        #expect(try due.next == at("2026-11-25T12:00:00Z"))
    }

    @Test func yearsOfDowntimeAreQuicklyLookedThrough() throws {
        let now = try at("2026-11-25T11:40:00Z")
        let long = try at("1990-01-01T00:00:00Z")
        #expect(try Self.schedule("* * * * *", .runAll(maximum: 100)).due(nextRun: long, now: now).runs.count == 100)
        let leap = try Self.schedule("0 0 29 2 *", .runAll(maximum: 3)).due(nextRun: long, now: now)
        #expect(
            leap.runs.map(\.rfc3339) == ["2016-02-28T23:00:00Z", "2020-02-28T23:00:00Z", "2024-02-28T23:00:00Z"]
        )
        #expect(try Self.schedule("0 0 29 2 *").due(nextRun: Timestamp(milliseconds: .min), now: now).runs.isEmpty)
    }

    @Test func repeatedCallsReturnTheSame() throws {
        let schedule = try Self.schedule("*/5 * * * *", .runAll(maximum: 5))
        let (next, now) = (try at("2026-10-25T00:00:00Z"), try at("2026-10-25T03:03:00Z"))
        #expect(schedule.due(nextRun: next, now: now) == schedule.due(nextRun: next, now: now))
    }

    @Test func theBoundsHold() throws {
        var schedule = try Self.schedule("0 9 * * *")
        schedule.from = try at("2026-11-25T08:00:00Z")
        schedule.until = try at("2026-11-27T08:00:00Z")
        #expect(try schedule.nextRun(after: at("2020-01-01T00:00:00Z")) == schedule.from)
        #expect(try schedule.nextRun(after: at("2026-11-25T08:00:00Z")) == at("2026-11-26T08:00:00Z"))
        #expect(try schedule.nextRun(after: at("2026-11-26T08:00:00Z")) == nil)
        let last = try at("2026-11-26T08:00:00Z")
        #expect(schedule.due(nextRun: last, now: last) == .init(runs: [last], next: nil))
    }

    @Test(
        arguments: [
            #"{"cron":"0 9 * * mon-fri","missedRuns":"skip","timeZone":"Europe/Berlin"}"#,
            #"{"cron":"@daily","maximumLatenessSeconds":3600,"missedRuns":"runOnce","timeZone":"Asia/Tokyo"}"#,
            #"{"cron":"0 9 * * *","from":"2026-11-26T00:00:00Z","maximumRuns":5,"missedRuns":"runAll","timeZone":"GMT","until":"2027-01-01T00:00:00Z"}"#,
        ]
    )
    func theCanonicalFormIsReadAgain(text: String) throws {
        let outer = try fields(#"{"schedule":\#(text)}"#, known: ["schedule"])
        let now = try at("2026-11-25T00:00:00Z")
        let schedule = try #require(try RecurringSchedule.parse(in: outer, now: now))
        #expect(String(decoding: try schedule.json.text, as: UTF8.self) == text)
        #expect(try RecurringSchedule(stored: schedule.json) == schedule)
    }

    @Test(
        arguments: [
            ("{}", "missing_field", "schedule.cron"),
            (#"{"cron":"0 9 * *","timeZone":"UTC"}"#, "invalid_cron", "schedule.cron"),
            (#"{"cron":"@daily"}"#, "missing_field", "schedule.timeZone"),
            (#"{"cron":"@daily","timeZone":"Mars/Base"}"#, "invalid_time_zone", "schedule.timeZone"),
            (#"{"cron":"0 0 30 2 *","timeZone":"UTC"}"#, "never_runs", "schedule.cron"),
            (#"{"cron":"@daily","timeZone":"UTC","until":"2020-01-01T00:00:00Z"}"#, "never_runs", "schedule.cron"),
            (#"{"cron":"@daily","timeZone":"UTC","from":"soon"}"#, "invalid_time", "schedule.from"),
            (#"{"cron":"@daily","timeZone":"UTC","from":2000,"until":1000}"#, "invalid_value", "schedule.until"),
            (#"{"cron":"@daily","timeZone":"UTC","missedRuns":"x"}"#, "invalid_value", "schedule.missedRuns"),
            (
                #"{"cron":"@daily","timeZone":"UTC","missedRuns":"skip","maximumRuns":2}"#, "conflicting_field",
                "schedule.maximumRuns"
            ),
            (#"{"cron":"@daily","timeZone":"UTC","crom":1}"#, "unknown_field", "schedule.crom"),
        ]
    )
    func aFaultNamesItsMember(text: String, code: String, field: String) throws {
        let outer = try fields(#"{"schedule":\#(text)}"#, known: ["schedule"])
        let now = try at("2026-11-25T00:00:00Z")
        let error = requestError { _ = try RecurringSchedule.parse(in: outer, now: now) }
        #expect(error?.code == code)
        #expect(error?.path == field)
    }
}
