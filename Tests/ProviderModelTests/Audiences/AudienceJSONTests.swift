import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The JSON form of an audience.
@Suite struct AudienceJSONTests {
    let now = Vectors.issuedAt

    @Test(arguments: [
        (#"{"all":true}"#, AudienceExpression.everyone),
        (#"{"user":"alice"}"#, .user("alice")),
        (#"{"users":["alice","bob"]}"#, .or([.user("alice"), .user("bob")])),
        (#"{"tag":"beta"}"#, .tag("beta")),
        (#"{"locale":"pt"}"#, .locale("pt")),
        (#"{"timeZone":"Europe/Berlin"}"#, .timeZone("Europe/Berlin")),
        (#"{"attribute":"plan"}"#, .hasAttribute("plan")),
        (#"{"attribute":"plan","is":"pro"}"#, .attribute(name: "plan", .equal, .string("pro"))),
        (#"{"attribute":"vip","is":true}"#, .attribute(name: "vip", .equal, .bool(true))),
        (
            #"{"attribute":"age","atLeast":18,"below":30.5}"#,
            .and([.attribute(name: "age", .atLeast, .integer(18)), .attribute(name: "age", .below, .number(30.5))])
        ),
        (
            #"{"attribute":"plan","in":["pro","team"]}"#,
            .or([.attribute(name: "plan", .equal, .string("pro")), .attribute(name: "plan", .equal, .string("team"))])
        ),
        (#"{"lastSeen":{"atLeast":1000}}"#, .lastSeen(.atLeast, Timestamp(seconds: 1000))),
        (#"{"lastSeen":{"below":1600000000123}}"#, .lastSeen(.below, Timestamp(milliseconds: 1_600_000_000_123))),
        (
            #"{"lastSeen":{"above":"2020-09-13T12:26:40Z"}}"#,
            .lastSeen(.above, Timestamp(milliseconds: 1_600_000_000_000))
        ),
        (#"{"and":[{"tag":"a"},{"not":{"user":"b"}}]}"#, .and([.tag("a"), .not(.user("b"))])),
        (#"{"tag":"a","or":[{"tag":"b"},{"tag":"c"}]}"#, .and([.tag("a"), .or([.tag("b"), .tag("c")])])),
    ])
    func everyMemberIsRead(text: String, expected: AudienceExpression) throws {
        #expect(try self.parse(text) == expected)
        #expect(AudienceExpression(stored: expected.json) == expected)
    }

    @Test func theStoredFormIsDecodedWithoutTheRulesOfRequests() throws {
        var expressions = AudienceGenerator(seed: 5)
        for _ in 0..<500 {
            let json = expressions.expression(depth: 3).json
            #expect(AudienceExpression(stored: json)?.json == json)
        }
        let many = AudienceExpression.or((0..<300).map { .user("u\($0)") })
        #expect(AudienceExpression(stored: many.json) == many, "what was accepted once stays readable")
    }

    @Test(arguments: [
        "1", "{}", #"{"all":false}"#, #"{"token":"zz"}"#, #"{"user":1}"#, #"{"users":["a"]}"#, #"{"and":[]}"#,
        #"{"and":[{"user":"a"},{"user":1}]}"#, #"{"not":{}}"#, #"{"tag":"a","user":"b"}"#, #"{"lastSeen":{"is":"x"}}"#,
        #"{"appVersion":{"is":"new"}}"#, #"{"attribute":"a","is":[1]}"#, #"{"attribute":"a","is":1,"above":0}"#,
    ])
    func otherStoredFormsAreDamaged(text: String) throws {
        #expect(AudienceExpression(stored: try JSONValue(parsing: Data(text.utf8))) == nil)
    }

    @Test func tokensVersionsAndDaysAreRead() throws {
        let token = try #require(DeviceToken(hex: Vectors.tokenA))
        #expect(try self.parse(#"{"token":"\#(Vectors.tokenA.uppercased())"}"#) == .token(token))
        #expect(try self.parse(#"{"token":"\#(Data(token.bytes).base64EncodedString())"}"#) == .token(token))
        let (low, high) = (try #require(AppVersion("2.9")), try #require(AppVersion("3")))
        #expect(
            try self.parse(#"{"appVersion":{"atLeast":"2.9","below":"3"}}"#)
                == .and([.appVersion(.atLeast, low), .appVersion(.below, high)])
        )
        let twoDaysAgo = self.now.advanced(by: .seconds(-2 * 86_400))
        #expect(try self.parse(#"{"lastSeen":{"withinDays":2}}"#) == .lastSeen(.atLeast, twoDaysAgo))
    }

    @Test(arguments: [
        (#"{}"#, "missing_field", nil),
        (#"{"al":true}"#, "unknown_field", "al"),
        (#"{"all":false}"#, "invalid_value", "all"),
        (#"{"all":1}"#, "invalid_value", "all"),
        (#"{"user":""}"#, "invalid_value", "user"),
        (#"{"user":7}"#, "wrong_type", "user"),
        (#"{"user":null}"#, "invalid_value", "user"),
        (#"{"tag":"a","user":null}"#, "invalid_value", "user"),
        (#"{"users":[]}"#, "invalid_value", "users"),
        (#"{"users":["a",1]}"#, "invalid_value", "users[1]"),
        (#"{"token":"not a token!"}"#, "invalid_token", "token"),
        (#"{"token":"aabb"}"#, "invalid_token", "token"),
        (#"{"timeZone":"Europe Berlin"}"#, "invalid_time_zone", "timeZone"),
        (#"{"timeZone":"Europe/Atlantis"}"#, "invalid_time_zone", "timeZone"),
        (#"{"is":1}"#, "missing_field", "is"),
        (#"{"in":[1]}"#, "missing_field", "in"),
        (#"{"attribute":"a","is":null}"#, "invalid_value", "is"),
        (#"{"attribute":"a","is":[1]}"#, "wrong_type", "is"),
        (#"{"attribute":"a","is":{}}"#, "wrong_type", "is"),
        (#"{"attribute":"a","in":[]}"#, "wrong_type", "in"),
        (#"{"attribute":"a","in":"b"}"#, "wrong_type", "in"),
        (#"{"appVersion":{}}"#, "missing_field", "appVersion"),
        (#"{"appVersion":{"is":null}}"#, "invalid_value", "appVersion.is"),
        (#"{"appVersion":{"is":"new"}}"#, "invalid_version", "appVersion.is"),
        (#"{"appVersion":{"over":"1"}}"#, "unknown_field", "appVersion.over"),
        (#"{"appVersion":"2.1"}"#, "wrong_type", "appVersion"),
        (#"{"lastSeen":{}}"#, "missing_field", "lastSeen"),
        (#"{"lastSeen":{"atLeast":-1}}"#, "invalid_time", "lastSeen.atLeast"),
        (#"{"lastSeen":{"withinDays":0}}"#, "invalid_value", "lastSeen.withinDays"),
        (#"{"and":[]}"#, "wrong_type", "and"),
        (#"{"or":{}}"#, "wrong_type", "or"),
        (#"{"not":[]}"#, "wrong_type", "not"),
        (#"{"and":[{"tag":"a"},{"not":{"or":[{"tag":"b"},{"tg":"c"}]}}]}"#, "unknown_field", "and[1].not.or[1].tg"),
    ])
    func aFaultNamesItsMember(text: String, code: String, field: String?) {
        let refusal = self.error(text)
        #expect(refusal?.code == code)
        #expect(refusal?.path == field)
        #expect(refusal?.kind == .invalid)
    }

    @Test func whatIsStoredReadsBackTheSame() throws {
        var generator = AudienceGenerator(seed: 11)
        for _ in 0..<500 {
            let expression = generator.expression(depth: 5)
            let text = try expression.json.text
            #expect(try self.parse(String(decoding: text, as: UTF8.self)) == expression)
        }
        for (empty, same) in [(AudienceExpression.and([]), AudienceExpression.everyone), (.or([]), .not(.everyone))] {
            #expect(try self.parse(String(decoding: try empty.json.text, as: UTF8.self)) == same)
        }
    }

    /// An expression that is accepted must be readable when it comes back from the store.
    @Test(arguments: ["not", "or", "both"]) func depthIsLimited(kind: String) throws {
        func nested(_ depth: Int) -> String {
            (0..<depth).reduce(#"{"tag":"a"}"#) { inner, _ in
                switch kind {
                case "not": #"{"not":\#(inner)}"#
                case "or": #"{"or":[\#(inner),{"tag":"b"}]}"#
                default: #"{"tag":"b","or":[\#(inner)]}"#
                }
            }
        }
        let deepest = AudienceExpression.maximumDepth / (kind == "both" ? 2 : 1)
        let expression = try self.parse(nested(deepest))
        #expect(try self.parse(String(decoding: try expression.json.text, as: UTF8.self)) == expression)
        for depth in [deepest + 1, 40, 10_000] { #expect(self.error(nested(depth))?.code == "too_deep") }
    }

    @Test func conditionsAreLimited() throws {
        let limit = AudienceExpression.maximumConditions
        func list(_ count: Int) -> String { (0..<count).map { #""\#($0)""# }.joined(separator: ",") }
        func tags(_ count: Int) -> String { (0..<count).map { #"{"tag":"\#($0)"}"# }.joined(separator: ",") }
        for text in [
            #"{"users":[\#(list(limit))]}"#, #"{"attribute":"a","in":[\#(list(limit))]}"#, #"{"or":[\#(tags(limit))]}"#,
        ] {
            let expression = try self.parse(text)
            #expect(try self.parse(String(decoding: try expression.json.text, as: UTF8.self)) == expression)
        }
        for text in [
            #"{"users":[\#(list(limit + 1))]}"#, #"{"or":[\#(tags(limit + 1))]}"#,
            #"{"tag":"a","users":[\#(list(limit))]}"#,
            #"{"and":[{"or":[\#(tags(limit / 2))]},{"or":[\#(tags(limit / 2 + 1))]}]}"#,
        ] {
            #expect(self.error(text)?.code == "too_many")
        }
        let long = String(repeating: "x", count: Member.maximumText + 1)
        for member in ["user", "tag", "locale", "timeZone", "attribute"] {
            #expect(self.error(#"{"\#(member)":"\#(long)"}"#)?.code == "too_long")
        }
    }

    @Test func garbageIsRejectedWithoutACrash() throws {
        var generator = SeededGenerator(seed: 3)
        var expressions = AudienceGenerator(seed: 4)
        for _ in 0..<2000 {
            var bytes = Array(try expressions.expression(depth: 3).json.text)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[place] = Bool.random(using: &generator) ? UInt8.random(in: 0...255, using: &generator) : 0x22
            }
            do {
                let fields = try JSONFields(parsing: Data(bytes), known: AudienceExpression.object.known)
                let expression = try AudienceExpression(fields, now: self.now)
                _ = try expression.json.text
            } catch let refusal {
                #expect((refusal as? RequestError)?.kind == .invalid)
            }
        }
    }

    private func parse(_ text: String) throws -> AudienceExpression {
        let fields = try JSONFields(parsing: Data(text.utf8), known: AudienceExpression.object.known)
        return try AudienceExpression(fields, now: self.now)
    }

    private func error(_ text: String) -> RequestError? {
        do {
            _ = try self.parse(text)
            return nil
        } catch {
            return error as? RequestError
        }
    }

    @Test func outcomesAreStoredButNotRequested() throws {
        let outcomes = RecipientOutcomes(of: UUID(), states: [.failed, .rejected], reasons: nil, exceptReasons: ["a"])
        let json = AudienceExpression.outcomes(outcomes).json
        #expect(AudienceExpression(stored: json) == .outcomes(outcomes))
        #expect(throws: RequestError.self) {
            try AudienceExpression(JSONFields(json, known: AudienceExpression.object.known), now: Vectors.issuedAt)
        }
        let damages = [
            #"{"outcomesOf":{}}"#, #"{"outcomesOf":[]}"#, #"{"outcomesOf":{"notification":"x","states":["failed"]}}"#,
            #"{"outcomesOf":{"notification":"6F9619FF-8B86-D011-B42D-00C04FC964FF","states":[]}}"#,
            #"{"outcomesOf":{"notification":"6F9619FF-8B86-D011-B42D-00C04FC964FF","states":["late"]}}"#,
        ]
        for text in damages { #expect(AudienceExpression(stored: try JSONValue(parsing: Data(text.utf8))) == nil) }
    }
}
