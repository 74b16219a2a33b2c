import ArgumentParser
import Foundation
import PushSupport
import PushTesting
import Testing

@testable import martlet

@Suite struct CommandTextTests {
    @Test func deviceWithoutASubcommandIsTheDeviceSimulator() throws {
        let command = try Martlet.parseAsRoot(["device", "--topic", "com.example.MyApp", "--json"])
        let device = try #require(command as? DeviceRunCommand)
        #expect(device.flags.has(DeviceSettings.topics) && !device.flags.has(DeviceSettings.name) && device.json)
        #expect(try Martlet.parseAsRoot(["device", "list", "--app", "x"]) is DeviceListCommand)
    }

    @Test func theVersionIsTheReleaseAndPerhapsTheCommit() {
        #expect(Martlet.configuration.version.hasPrefix(MartletVersion.number))
    }

    @Test(arguments: [
        ("level=7", JSONValue.integer(7)), ("score=1.5", .number(1.5)), ("paid=true", .bool(true)),
        ("zip=\"01234\"", .string("01234")), ("name=nan", .string("nan")), ("name=infinity", .string("infinity")),
        ("note=a=b", .string("a=b")), ("empty=", .string("")), ("big=99999999999999999999", .number(1e20)),
    ])
    func attributesAreNumbersWhereTheyLookLikeOne(text: String, value: JSONValue) {
        #expect(AttributeValue(argument: text)?.value == value)
    }

    @Test(arguments: ["", "=x", "name"]) func aTextWithoutANameIsNoAttribute(text: String) {
        #expect(AttributeValue(argument: text) == nil)
    }

    @Test(arguments: [
        (["--all"], #"{"all":true}"#),
        (["--tag", "a"], #"{"tag":"a"}"#),
        (["--tag", "a", "--tag", "b"], #"{"and":[{"tag":"a"},{"tag":"b"}]}"#),
        (["--user", "a", "--user", "b"], #"{"users":["a","b"]}"#),
        (["--attribute", "plan=gold"], #"{"attribute":"plan","is":"gold"}"#),
        (["--at-least-version", "2.1", "--below-version", "3"], #"{"appVersion":{"atLeast":"2.1","below":"3"}}"#),
        (["--locale", "de", "--seen-within-days", "30"], #"{"and":[{"locale":"de"},{"lastSeen":{"withinDays":30}}]}"#),
        (["--query", #"{"not":{"tag":"a"}}"#], #"{"not":{"tag":"a"}}"#),
    ])
    func flagsMakeAnAudience(words: [String], json: String) throws {
        let members = try AudienceOptions.parse(words).members
        #expect(members["audience"] == .some(try JSONValue(parsing: Data(json.utf8))))
    }

    @Test(arguments: [
        [], ["--all", "--tag", "a"], ["--query", "{}", "--tag", "a"], ["--query", "[1]"], ["--query", "{"],
    ])
    func anAudienceIsGivenOnceAndInJSON(words: [String]) {
        #expect(throws: (any Error).self) { try AudienceOptions.parse(words).members }
    }

    @Test(
        arguments: [
            (0, 10, nil, nil, "[..............................] 0 of 10"),
            (5, 10, 2.4, 3, "[###############...............] 5 of 10, 2/s, 0:03 left"),
            (20, 10, nil, 3725, "[##############################] 20 of 10, 1:02:05 left"),
            (7, nil, nil, nil, "7"), (7, 0, Double.infinity, -5, "7, 0:00 left"),
        ] as [(Int, Int?, Double?, Int?, String)]
    )
    func progressIsABarWithNumbers(done: Int, total: Int?, rate: Double?, left: Int?, text: String) {
        #expect(ProgressText.of(done: done, total: total, rate: rate, secondsLeft: left) == text)
    }

    @Test(
        arguments: [
            (
                #"{"state":"sending","recipients":100,"counters":{"accepted":40,"rejected":10,"failed":0,"retrying":2},"#
                    + #""ratePerSecond":25.4,"secondsLeft":2}"#,
                "sending; [###############...............] 50 of 100, 25/s, 0:02 left; 10 rejected; 2 retrying"
            ),
            (#"{"state":"scheduled","startsAtMs":0,"recipients":0}"#, "scheduled for 1970-01-01T00:00:00.000Z"),
            (#"{"state":"paused","pauseReason":"the \u001bbreaker","secondsLeft":9}"#, "paused, the �breaker"),
            ("{}", "unknown"),
            (
                #"{"state":"done","recipients":9223372036854775807,"counters":{"accepted":-1,"failed":9223372036854775807}}"#,
                nil
            ),
        ] as [(String, String?)]
    )
    func aNotificationIsALineOfProgress(json: String, text: String?) throws {
        let line = NotificationProgressText.of(try JSONValue(parsing: Data(json.utf8)))
        if let text { #expect(line == text) }
    }

    @Test func anImportReportHasCountsAndRejectedLines() throws {
        let json = #"{"lines":3,"added":1,"refused":1,"refusals":[{"line":2,"code":"invalid_token","message":"bad"}]}"#
        let report = ImportReport(try JSONValue(parsing: Data(json.utf8)))
        #expect(report.hasRejections)
        #expect(report.text.contains("2     invalid_token"))
        #expect(report.text.hasSuffix("added 1, lines 3, refused 1"))
        #expect(
            !ImportReport(try JSONValue(parsing: Data(#"{"lines":1,"refused":0,"refusals":[]}"#.utf8))).hasRejections
        )
    }

    @Test(arguments: [
        ("a.ndjson", DeviceFileFormat.ndjson), ("a.JSONL", .ndjson), ("b.csv", .csv), ("c.txt", nil), ("-", nil),
    ])
    func theExtensionOfAFileIsItsFormat(name: String, format: DeviceFileFormat?) {
        #expect(DeviceFileFormat(fileName: name) == format)
    }
}
