import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

/// Audiences that refer to named ones.
@Suite struct NamedAudiencesTests {
    private let named = NamedAudiences([
        "beta": ["tag": "beta"], "recent": ["lastSeen": ["withinDays": 1]], "nested": ["named": "beta"],
        "\u{e9}": ["tag": "composed"], "broken": ["tg": "a"],
    ])

    private func parse(_ text: String, at now: Timestamp = Vectors.issuedAt) throws -> AudienceExpression {
        let fields = try JSONFields(parsing: Data(text.utf8), known: AudienceExpression.object.known)
        return try AudienceExpression(fields, now: now, named: self.named)
    }

    @Test(arguments: [
        (#"{"named":"beta"}"#, AudienceExpression.tag("beta")),
        (#"{"locale":"de","named":"beta"}"#, .and([.locale("de"), .tag("beta")])),
        (
            #"{"or":[{"named":"beta"},{"not":{"named":"beta"}}]}"#,
            .or([.tag("beta"), .not(.tag("beta"))])
        ),
        (#"{"and":[{"named":"beta"},{"named":"\u00e9"}]}"#, .and([.tag("beta"), .tag("composed")])),
    ])
    func aNameStandsForItsCondition(text: String, expected: AudienceExpression) throws {
        #expect(try self.parse(text) == expected)
    }

    @Test func daysCountFromTheUseOfAnAudience() throws {
        let later = Vectors.issuedAt.advanced(by: .seconds(86_400))
        #expect(try self.parse(#"{"named":"recent"}"#, at: later) == .lastSeen(.atLeast, Vectors.issuedAt))
    }

    @Test(arguments: [
        (#"{"named":"gamma"}"#, "no_such_audience", "named"),
        (#"{"named":"e\u0301"}"#, "no_such_audience", "named"),
        (#"{"not":{"named":"gamma"}}"#, "no_such_audience", "not.named"),
        (#"{"named":"nested"}"#, "nested_name", "named.named"),
        (#"{"named":"broken"}"#, "unknown_field", "named.tg"),
        (#"{"named":7}"#, "wrong_type", "named"),
    ])
    func aFaultNamesItsMember(text: String, code: String, field: String) {
        let error = #expect(throws: RequestError.self) { try self.parse(text) }
        #expect(error?.code == code)
        #expect(error?.path == field)
    }

    @Test func namesAreFoundWhereverAConditionMayStand() throws {
        let text = #"{"named":"a","tag":"x","or":[{"not":{"named":"b"}},{"and":[{"named":"c"},{"user":"named"}]}]}"#
        let names = NamedAudiences.names(in: try JSONValue(parsing: Data(text.utf8)))
        #expect(names == ["a", "b", "c"])
    }

    @Test func theConditionsOfAnAudienceCountAsThoseOfTheRequest() throws {
        let users = JSONValue.array((0..<AudienceExpression.maximumConditions).map { .string("u\($0)") })
        let named = NamedAudiences(["many": ["users": users]])
        func parse(_ members: [String: JSONValue]) throws -> AudienceExpression {
            try AudienceExpression(json: members, path: "to", now: Vectors.issuedAt, named: named)
        }
        #expect(throws: Never.self) { try parse(["named": "many"]) }
        let error = #expect(throws: RequestError.self) { try parse(["tag": "one more", "named": "many"]) }
        #expect(error?.code == "too_many")
    }
}
