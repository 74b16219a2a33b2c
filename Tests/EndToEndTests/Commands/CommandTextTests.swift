import ArgumentParser
import Foundation
import ProviderAPI
import PushProvider
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import martlet

@Suite struct CommandTextTests {
    @Test func theDeviceSimulatorIsStillWhatDeviceMeansWithoutASubcommand() throws {
        let command = try Martlet.parseAsRoot(["device", "--topic", "com.example.MyApp", "--json"])
        let device = try #require(command as? DeviceRunCommand)
        #expect(device.topic == ["com.example.MyApp"] && device.json)
        #expect(try Martlet.parseAsRoot(["device", "list", "--app", "x"]) is DeviceListCommand)
    }

    @Test(arguments: [
        ("level=7", JSONValue.integer(7)), ("score=1.5", .number(1.5)), ("paid=true", .bool(true)),
        ("zip=\"01234\"", .string("01234")), ("name=nan", .string("nan")), ("name=infinity", .string("infinity")),
        ("note=a=b", .string("a=b")), ("empty=", .string("")), ("big=99999999999999999999", .number(1e20)),
    ])
    func attributesAreNumbersWhereTheyLookLikeOne(text: String, value: JSONValue) {
        #expect(AttributeValue(argument: text)?.value == value)
    }

    @Test(arguments: ["", "=x", "name"]) func whatNamesNoAttributeIsNone(text: String) {
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
    func flagsMakeACondition(words: [String], json: String) throws {
        let members = try AudienceForm.parse(words).members
        #expect(members["audience"] == .some(try JSONValue(parsing: Data(json.utf8))))
    }

    @Test(arguments: [
        [], ["--all", "--tag", "a"], ["--query", "{}", "--tag", "a"], ["--query", "[1]"], ["--query", "{"],
    ])
    func anAudienceIsSaidOnceAndInJSON(words: [String]) {
        #expect(throws: (any Error).self) { try AudienceForm.parse(words).members }
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
    func anAnswerIsALineOfProgress(json: String, text: String?) throws {
        let line = NotificationProgressText.of(try JSONValue(parsing: Data(json.utf8)))
        if let text { #expect(line == text) }
    }

    @Test func anImportTellsCountsAndRefusedLines() throws {
        let json = #"{"lines":3,"added":1,"refused":1,"refusals":[{"line":2,"code":"invalid_token","message":"bad"}]}"#
        let report = ImportText(try JSONValue(parsing: Data(json.utf8)))
        #expect(report.hasRefusals)
        #expect(report.text.contains("2     invalid_token"))
        #expect(report.text.hasSuffix("added 1, lines 3, refused 1"))
        #expect(!ImportText(try JSONValue(parsing: Data(#"{"lines":1,"refused":0,"refusals":[]}"#.utf8))).hasRefusals)
    }

    @Test(arguments: [
        ("a.ndjson", DeviceFileFormat.ndjson), ("a.JSONL", .ndjson), ("b.csv", .csv), ("c.txt", nil), ("-", nil),
    ])
    func aFilesNameTellsItsFormat(name: String, format: DeviceFileFormat?) {
        #expect(DeviceFileFormat(fileName: name) == format)
    }

    @Test func limitsOfTheProviderComeFromSettingsAndOutOfRangeOnesAreNamed() async throws {
        let options = try ServeLimitOptions.parse([
            "--page", "200", "--retention-days", "7", "--allow-private-webhooks",
        ])
        var configuration = ProviderConfiguration(dataDirectory: "/nowhere")
        let settings = try await Settings(flags: options.flags, file: nil)
        ServeLimitOptions.apply(settings, to: &configuration)
        try settings.check()
        #expect(configuration.dispatch.page == 200 && configuration.dispatch.walkers == 4)
        #expect(configuration.retention.notifications == .seconds(7 * 86_400))
        #expect(configuration.webhookAddresses.allowsPrivate && !configuration.webhookAddresses.allowsPlainHTTP)

        let wrong = try ServeLimitOptions.parse(["--walkers", "0", "--retention-days", "\(Int.max)"])
        let bad = try await Settings(flags: wrong.flags, file: nil)
        ServeLimitOptions.apply(bad, to: &configuration)
        let text = await failure { try bad.check() }
        #expect(text?.contains("serve.dispatch.walkers") == true && text?.contains("serve.retentionDays") == true)
    }

    @Test func limitsOfTheBreakerComeFromSettings() async throws {
        func limits(_ words: String...) async throws -> CircuitBreaker.Limits {
            let settings = try await Settings(flags: try ServeBreakerOptions.parse(words).flags, file: nil)
            let limits = try ServeBreakerOptions.limits(settings)
            try settings.check()
            return limits
        }
        #expect(try await limits() == CircuitBreaker.Limits())
        let own = try await limits(
            "--breaker-minimum",
            "50",
            "--breaker-dead",
            "10",
            "--breaker-bad",
            "100",
            "--breaker-memory",
            "50"
        )
        #expect(own.minimum == 50 && own.dead == 0.1 && own.bad == 1 && own.memory == 50)
        for (words, name) in [
            (["--breaker-dead", "0"], "serve.breaker.dead: 0 is not between 1 and 100"),
            (["--breaker-bad", "101"], "serve.breaker.bad: 101 is not between"),
            (["--breaker-minimum", "0"], "serve.breaker.minimum: 0 is not between"),
            (["--breaker-memory", "199"], "serve.breaker.memory: 199 is less than serve.breaker.minimum, 200"),
        ] {
            let text = await failure { _ = try await limits(words[0], words[1]) }
            #expect(text?.contains(name) == true, "\(words)")
        }
    }

    @Test func doorsForOlderSystemsAreNamedByApp() async throws {
        let key = "0123456789abcdef"
        let options = try ServeCompatibilityOptions.parse(["--door", "com.example.MyApp=\(key)", "--account", "b.c=me"])
        let settings = try await Settings(flags: options.flags, file: nil)
        let doors = try ServeCompatibilityOptions.configuration(settings).doors
        #expect(doors.count == 2)
        #expect(Topic("com.example.MyApp").flatMap { doors[$0] }?.key == key)
        #expect(Topic("b.c").flatMap { doors[$0] }?.accounts == ["me"])
    }

    @Test(arguments: [
        "com.example.MyApp", "=0123456789abcdef", "com.example.MyApp=short-secret", "a b=0123456789abcdef",
    ])
    func aDoorThatCannotBeIsRefusedWithoutShowingItsKey(text: String) async throws {
        let settings = try await Settings(flags: ServeCompatibilityOptions.parse(["--door", text]).flags, file: nil)
        let said = await failure { _ = try ServeCompatibilityOptions.configuration(settings) }
        #expect(said?.contains("serve.compatibility") == true && said?.contains("short-secret") == false)
    }
}
