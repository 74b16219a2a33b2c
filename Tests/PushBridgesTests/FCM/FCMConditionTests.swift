import ProviderModel
import PushStore
import Testing

@testable import PushBridges

/// Conditions over topics.
@Suite struct FCMConditionTests {
    private static func tag(_ name: String) -> AudienceExpression { .tag("topic:\(name)") }

    @Test func aConditionBecomesAnAudience() throws {
        let text = "'a' in topics && ('b' in topics || !('c' in topics))"
        #expect(
            try FCMCondition(text).audience
                == .and([Self.tag("a"), .or([Self.tag("b"), .not(Self.tag("c"))])])
        )
        #expect(try FCMCondition(#" "a.b-c_~%1"in  topics "#).audience == Self.tag("a.b-c_~%1"))
        #expect(try FCMCondition("!!'a' in topics").audience == Self.tag("a"))
        #expect(try FCMCondition("'/topics/a' in topics").audience == Self.tag("a"))
    }

    @Test func operatorsBindFromLeftToRight() throws {
        #expect(
            try FCMCondition("'a' in topics || 'b' in topics && 'c' in topics").audience
                == .and([.or([Self.tag("a"), Self.tag("b")]), Self.tag("c")])
        )
        #expect(
            try FCMCondition("'a' in topics && 'b' in topics && 'c' in topics").audience
                == .and([Self.tag("a"), Self.tag("b"), Self.tag("c")])
        )
    }

    @Test(arguments: [
        "", " ", "a in topics", "'a'", "'a' in", "'a' in topics &&", "&& 'a' in topics", "'a' in topics 'b' in topics",
        "('a' in topics", "'a' in topics)", "()", "!", "'a b' in topics", "'' in topics", "'a in topics",
        "'a\" in topics",
        "'a' in topics & 'b' in topics", "'ä' in topics", "'a' in topics && 'b' in topics, ",
    ])
    func anythingElseIsRefused(text: String) {
        #expect(throws: FCMCondition.Fault.self) { try FCMCondition(text) }
    }

    @Test func aConditionIsBounded() throws {
        let topics = { (count: Int) in (1...count).map { "'t\($0)' in topics" }.joined(separator: " || ") }
        #expect(throws: Never.self) { try FCMCondition(topics(5)) }
        #expect(throws: FCMCondition.Fault.self) { try FCMCondition(topics(6)) }
        let nested = { (count: Int) in
            String(repeating: "(", count: count) + "'a' in topics" + String(repeating: ")", count: count)
        }
        #expect(try FCMCondition(nested(8)).audience == Self.tag("a"))
        #expect(throws: FCMCondition.Fault.self) { try FCMCondition(nested(9)) }
        #expect(throws: FCMCondition.Fault.self) { try FCMCondition(String(repeating: "!", count: 3000)) }
    }
}
