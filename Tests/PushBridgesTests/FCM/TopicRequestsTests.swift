import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// The bodies of the Instance ID service.
@Suite struct TopicRequestsTests {
    @Test func aBatchHasATopicAndTokensInTheirOrder() throws {
        let text = #"{"to":"/topics/news","registration_tokens":["\#(Vectors.tokenA)","zz",""]}"#
        let batch = try TopicBatch(Data(text.utf8))
        #expect(batch.topic == "news")
        #expect(batch.tokens.map(\.token) == [DeviceToken(hex: Vectors.tokenA), nil, nil])
    }

    @Test func anImportNamesAppAndEnvironment() throws {
        let text = #"{"application":"com.example.MyApp","sandbox":true,"apns_tokens":["x"]}"#
        let batch = try ImportBatch(Data(text.utf8))
        #expect(batch.application.name == Vectors.bundleID && batch.environment == .sandbox && batch.texts == ["x"])
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"to":"/topics/a b","registration_tokens":["x"]}"#, #"{"to":"/topics/a"}"#,
        #"{"to":"/topics/a","registration_tokens":[]}"#, #"{"to":"/topics/a","registration_tokens":[1]}"#,
        #"{"to":"/topics/","registration_tokens":["x"]}"#,
    ])
    func otherBodiesAreRefused(text: String) {
        #expect(throws: FCMError.self) { try TopicBatch(Data(text.utf8)) }
        #expect(throws: FCMError.self) { try ImportBatch(Data(text.utf8)) }
    }

    @Test func aBatchIsBounded() throws {
        let body = { (count: Int) in
            try JSONValue.object([
                "to": "/topics/a", "registration_tokens": .array(Array(repeating: "x", count: count)),
            ]).text
        }
        #expect(try TopicBatch(body(1000)).tokens.count == 1000)
        #expect(throws: FCMError.self) { try TopicBatch(body(1001)) }
        #expect(FCMTopic.name(String(repeating: "a", count: 250)) != nil)
        #expect(FCMTopic.name(String(repeating: "a", count: 251)) == nil)
        #expect(FCMTopic.name(ofTag: FCMTopic.tag("a")) == "a" && FCMTopic.name(ofTag: "a") == nil)
    }
}
