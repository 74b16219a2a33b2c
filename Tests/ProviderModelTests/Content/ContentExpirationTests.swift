import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderModel

/// `expiration` and `expiresIn` of a request, and times in other units.
@Suite struct ContentExpirationTests {
    /// The vectors' time is 2023-11-14T22:13:20Z.
    private static let now = Vectors.issuedAt

    private static func parse(_ members: String) throws -> NotificationRequest {
        let body = #"{"to":{"all":true},"alert":"x",\#(members)}"#
        return try NotificationRequest(
            parsing: .init(body.utf8),
            bundleID: try #require(Topic(Vectors.bundleID)),
            now: Self.now
        )
    }

    private static func fault(_ members: String) -> RequestError? {
        do { _ = try Self.parse(members) } catch { return error as? RequestError }
        return nil
    }

    @Test(arguments: [
        ("1", 1), ("21600", 21_600), ("2592000", 2_592_000), (#""90s""#, 90), (#""30m""#, 1800), (#""6h""#, 21_600),
        (#""30d""#, 2_592_000), (#""007h""#, 25_200),
    ])
    func aRelativeExpiryIsSecondsOrATextWithAUnit(value: String, seconds: Int64) throws {
        let content = try Self.parse(#""expiresIn":\#(value)"#).content
        #expect(content.expiresIn == seconds)
        #expect(content.expiration == .servicePolicy)
    }

    @Test(arguments: [
        "0", "-1", "2592001", "9223372036854775807", "1.5", "true", "[]", "{}", #""""#, #""6""#, #""h""#, #""6 h""#,
        #""6H""#, #""-6h""#, #""+6h""#, #""31d""#, #""99999999999h""#, #""٣h""#, #""6h6m""#, #""1e3s""#,
    ])
    func anyOtherRelativeExpiryIsAFaultOfItsMember(value: String) {
        let fault = Self.fault(#""expiresIn":\#(value)"#)
        #expect(fault?.path == "expiresIn")
        #expect(fault?.kind == .invalid)
    }

    @Test(arguments: [
        (#""2023-11-14T22:13:21Z""#, 1_700_000_001), (#""2023-11-15T00:00:00+01:00""#, 1_700_002_800),
        ("1700000001", 1_700_000_001), (#""2023-11-14T22:13:21.9Z""#, 1_700_000_001),
    ])
    func anExpirationIsATimeInEitherForm(value: String, seconds: Int64) throws {
        #expect(try Self.parse(#""expiration":\#(value)"#).content.expiration == .at(seconds: seconds))
    }

    @Test func zeroIsOneAttempt() throws {
        #expect(try Self.parse(#""expiration":0"#).content.expiration == .immediate)
    }

    @Test(arguments: [
        ("1699999990", "past_time"), ("1700000000", "past_time"), (#""2023-11-14T22:13:20Z""#, "past_time"),
        (#""1969-12-31T00:00:00Z""#, "past_time"), ("3600", "invalid_expiration"), ("-5", "invalid_expiration"),
        ("1700000001000", "invalid_expiration"), ("9223372036854775807", "invalid_expiration"),
        (#""tomorrow""#, "invalid_time"), (#""""#, "invalid_time"), ("1.5", "wrong_type"), ("[]", "wrong_type"),
    ])
    func anExpirationThatCannotBeIsAFaultOfItsMember(value: String, code: String) {
        let fault = Self.fault(#""expiration":\#(value)"#)
        #expect(fault?.path == "expiration")
        #expect(fault?.code == code)
    }

    @Test func bothTogetherAreAConflict() {
        let fault = Self.fault(#""expiration":1700000100,"expiresIn":60"#)
        #expect(fault?.code == "conflicting_field")
        #expect(fault?.path == "expiresIn")
    }

    @Test func aNumberInWhenIsSecondsAndMillisecondsAreDeprecated() throws {
        let inSeconds = try Self.parse(#""when":{"at":1700003600}"#)
        #expect(inSeconds.delivery?.beginning == .at(Timestamp(seconds: 1_700_003_600)))
        #expect(inSeconds.warnings.isEmpty)
        let inMilliseconds = try Self.parse(#""when":{"at":1700003600000}"#)
        #expect(inMilliseconds.delivery == inSeconds.delivery)
        #expect(inMilliseconds.warnings.map(\.field) == ["when.at"])
    }

    @Test func millisecondsInAnAudienceAreDeprecated() throws {
        let body = """
            {"alert":"x","to":{"and":[{"lastSeen":{"above":1600000000000}},{"not":{"lastSeen":{"below":1600000000}}},
            {"attribute":"points","atLeast":1600000000000},{"lastSeen":{"withinDays":30}}]}}
            """
        let request = try NotificationRequest(
            parsing: .init(body.utf8),
            bundleID: try #require(Topic(Vectors.bundleID)),
            now: Self.now
        )
        #expect(request.warnings.map(\.field) == ["to.and[0].lastSeen.above"])
        let seen = Timestamp(seconds: 1_600_000_000)
        guard case .devices(.and(let conditions)) = request.audience else {
            Issue.record("\(request.audience)")
            return
        }
        #expect(conditions.first == .lastSeen(.above, seen))
        #expect(conditions.dropFirst().first == .not(.lastSeen(.below, seen)))
    }

    @Test func aNameHasUpTo200Bytes() throws {
        #expect(try Self.parse(#""name":"Spring""#).name == "Spring")
        #expect(Self.fault(#""name":"""#)?.path == "name")
        #expect(Self.fault(#""name":5"#)?.path == "name")
        #expect(Self.fault(#""name":"\#(String(repeating: "é", count: 101))""#)?.code == "too_long")
    }
}

/// The push type that follows from the content.
@Suite struct DerivedPushTypeTests {
    private static func parse(_ members: String) throws -> NotificationContent {
        let body = #"{"to":{"all":true},\#(members)}"#
        return try NotificationRequest(
            parsing: .init(body.utf8),
            bundleID: try #require(Topic(Vectors.bundleID)),
            now: Vectors.issuedAt
        )
        .content
    }

    @Test(arguments: [
        #""contentAvailable":true"#, #""contentAvailable":true,"data":{"a":1}"#,
        #""contentAvailable":true,"priority":5"#, #""payload":{"aps":{"content-available":1},"a":1}"#,
    ])
    func contentThatOnlyWakesTheAppIsABackgroundPush(members: String) throws {
        let content = try Self.parse(members)
        #expect(content.pushType == .background)
        #expect(content.priority == .powerAware)
    }

    @Test(arguments: [
        #""contentAvailable":true,"alert":"x""#, #""contentAvailable":true,"badge":1"#,
        #""contentAvailable":true,"sound":"default""#, #""payload":{"aps":{"content-available":1,"alert":"x"}}"#,
        #""contentAvailable":true,"pushType":"alert","alert":"x""#,
    ])
    func contentThatShowsSomethingIsAnAlert(members: String) throws {
        #expect(try Self.parse(members).pushType == .alert)
    }

    @Test func aFaultNamesTheWayToABackgroundPush() throws {
        #expect(throws: RequestError.self) { try Self.parse(#""data":{"a":1}"#) }
        do {
            _ = try Self.parse(#""data":{"a":1}"#)
        } catch let error as RequestError {
            #expect(error.message.contains("contentAvailable"))
        }
        do {
            _ = try Self.parse(#""contentAvailable":true,"priority":10"#)
            Issue.record("a background push has priority 5 only")
        } catch let error as RequestError {
            #expect(error.path == "priority")
            #expect(error.message.contains("background push"))
        }
    }
}
