import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushGateway

/// The JSON and the text form of rules.
@Suite struct FaultRuleTests {
    static let texts = [
        "reason=TooManyRequests,topic=com.example.MyApp,percent=20",
        "reason=TooManyRequests,retryAfter=30",
        "latency=50ms..200ms,percent=10",
        "latency=2s,door=binary",
        "latency=normal:100ms/20ms,environment=production",
        "latency=p50:20ms/p95:80ms/p99:1s,percent=0.5",
        "reset=REFUSED_STREAM,token=302bd38c,times=3",
        "reset=4711",
        "goAway=100,code=NO_ERROR",
        "goAway=5,code=ENHANCE_YOUR_CALM,text=Shutdown,streams=lose,credential=ABC123DEFG",
        "stall=request,first=1",
        "stall=connection,every=10",
        "slow=1000,door=courier",
        "dropAcks,percent=50",
        "expiredCertificate,door=http2",
        "streamLimit=1",
        "streamLimit=0,after=100",
        "feedbackDelay=2h,topic=com.example.MyApp",
        "close,untilMs=1700000000000,id=end",
        "dropDevice=3,token=\(Vectors.tokenA)",
    ]

    private static func rule(_ body: Data) throws -> FaultRule {
        try FaultRule(JSONFields(parsing: body, known: FaultRule.object.known))
    }

    @Test(arguments: texts) func textAndJSONGoRound(text: String) throws {
        let rule = try FaultRule(text: text)
        #expect(rule.description == text)
        #expect(try Self.rule(rule.json.text) == rule)
        #expect(try FaultRule(members: Dictionary(uniqueKeysWithValues: rule.members)) == rule)
    }

    @Test func aRuleReadsAsItIsMeant() throws {
        let rule = try FaultRule(
            text:
                "goAway=7,text=Shutdown,topic=com.example.MyApp,token=302BD38C,door=http2,percent=12.5,times=2,first=9"
        )
        #expect(rule.action == .goAway(.init(after: 7, code: .none, text: "Shutdown", finishesStreams: true)))
        #expect(rule.match.topic?.name == "com.example.MyApp")
        #expect(rule.match.token == "302bd38c")
        #expect(rule.match.listener == .http2)
        #expect(rule.match.percent == 12.5)
        #expect((rule.match.first, rule.match.times, rule.match.every) == (9, 2, nil))
        #expect(try FaultRule(text: "reset=refused_stream").action == .reset(FaultErrorCode(value: 7)))
    }

    @Test(
        arguments: [
            ("", nil), ("reason=TooManyRequests,", nil), ("percent=20", "latency"), ("reason=Nonsense", "reason"),
            ("reason=TooManyRequests,reset=CANCEL", "reset"), ("reason=TooManyRequests,percent=101", "percent"),
            ("reason=TooManyRequests,percent=nan", "percent"), ("reason=TooManyRequests,percent=-1", "percent"),
            ("reason=TooManyRequests,percent=many", "percent"), ("reason=TooManyRequests,percent", "percent"),
            ("reason=TooManyRequests,percent=1,percent=2", "percent"), ("reason=TooManyRequests,typo=1", "typo"),
            ("reason=TooManyRequests,topic=a b", "topic"), ("reason=TooManyRequests,token=302bd38", "token"),
            ("reason=TooManyRequests,token=302bd38z", "token"), ("reason=TooManyRequests,door=front", "door"),
            ("reason=TooManyRequests,environment=test", "environment"), ("reason=TooManyRequests,first=0", "first"),
            ("reason=TooManyRequests,every=1.5", "every"), ("reason=TooManyRequests,times=-1", "times"),
            ("reason=TooManyRequests,untilMs=soon", "untilMs"), ("reason=TooManyRequests,retryAfter=-1", "retryAfter"),
            ("reason=TooManyRequests,credential=a/b", "credential"), ("reason=TooManyRequests,id=a/b", "id"),
            ("reason=TooManyRequests,code=CANCEL", "code"), ("close,after=3", "after"), ("close=yes", "close"),
            ("latency=fast", "latency"), ("latency=200ms..50ms", "latency"), ("latency=11m", "latency"),
            ("latency=9223372036854775807d", "latency"), ("latency=p99:1s/p50:2s", "latency"),
            ("latency=p0:1s", "latency"), ("latency=p50:1s/p95:1ms", "latency"), ("latency=normal:1s", "latency"),
            ("reset=NOTHING", "reset"), ("reset=4294967296", "reset"), ("goAway=0", "goAway"),
            ("goAway=1,text=a b", "text"), ("goAway=1,streams=some", "streams"), ("stall=ever", "stall"),
            ("slow=0", "slow"), ("streamLimit=-1", "streamLimit"), ("feedbackDelay=31d", "feedbackDelay"),
            ("dropAcks,door=http2", "door"), ("feedbackDelay=1h,token=302bd38c", "token"),
            ("expiredCertificate,credential=ABC123DEFG", "credential"), ("slow=1,topic=a", "topic"),
            ("streamLimit=1,topic=a", "topic"), ("dropDevice=1,credential=ABC123DEFG", "credential"),
        ] as [(String, String?)]
    )
    func aMistakeIsNamed(text: String, field: String?) {
        do {
            let rule = try FaultRule(text: text)
            Issue.record("this was read: \(rule)")
        } catch {
            #expect(error.kind == .invalid)
            #expect(error.path == field)
            #expect(!error.message.isEmpty)
        }
    }

    @Test(
        arguments: [
            (#"{"reason":5}"#, "reason"), (#"{"dropAcks":false}"#, "dropAcks"), (#"{"goAway":"5"}"#, "goAway"),
            (#"{"close":true,"percent":"5"}"#, "percent"), (#"{"close":true,"percent":null}"#, nil),
            ("[]", nil), ("5", nil), ("{", nil),
        ] as [(String, String?)]
    )
    func aMistakeInJSONIsNamed(json: String, field: String?) {
        let result = Result { try Self.rule(Data(json.utf8)) }
        if case .failure(let error as RequestError) = result {
            #expect(error.path == field)
        } else {
            #expect(json.contains("null"), "null is as good as nothing")
        }
    }

    @Test func aFileNamesTheRuleAtFault() throws {
        let good = #"{"faults":[{"close":true},{"reason":"Shutdown","percent":5}]}"#
        #expect(try FaultPlan.rules(json: Data(good.utf8)).count == 2)
        for (json, field) in [
            (#"{"faults":[{"close":true},{"reason":"Shutdown","percent":500}]}"#, "faults[1].percent"),
            (#"{"faults":[{"close":true},7]}"#, "faults[1]"), (#"{"faults":{}}"#, "faults"),
            (#"{"rules":[]}"#, "rules"),
        ] {
            #expect {
                try FaultPlan.rules(json: Data(json.utf8))
            } throws: {
                ($0 as? RequestError)?.path == field
            }
        }
    }

    @Test(arguments: 0..<300) func garbageIsRejectedOrGoesRound(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var bytes = Array((Self.texts.randomElement(using: &random) ?? "").utf8)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            bytes[index] = UInt8.random(in: 32...126, using: &random)
        }
        if let rule = try? FaultRule(text: String(decoding: bytes, as: UTF8.self)) {
            #expect(try FaultRule(text: rule.description) == rule)
        }
    }

    @Test func durationsAreWrittenInTheLargestUnitThatFits() {
        for text in ["0ms", "1ms", "999ms", "1s", "90s", "2m", "25h", "2d"] {
            #expect(FaultDuration.read(text).map(FaultDuration.text) == text)
        }
        #expect(FaultDuration.read("60s").map(FaultDuration.text) == "1m")
        for text in ["", "5", "ms", "-5ms", "5 ms", "5us", "٥s", "99999999999999999999s"] {
            #expect(FaultDuration.read(text) == nil)
        }
    }
}
