import PushTesting
import PushTypes
import Testing

@testable import PushWire

@Suite struct WebPushMessageTests {
    private func headers(
        _ priority: Priority = .immediate,
        _ expiration: Expiration = .servicePolicy,
        collapseID: String? = nil
    ) -> [String: String] {
        let headers = WebPushMessage.headers(
            priority: priority,
            expiration: expiration,
            collapseID: collapseID,
            now: Vectors.issuedAt
        )
        return Dictionary(headers.map { ($0.name, $0.value) }) { $0 + $1 }
    }

    @Test func urgencyFollowsThePriority() {
        #expect(self.headers(.immediate)["urgency"] == "high")
        #expect(self.headers(.powerAware)["urgency"] == "normal")
        #expect(self.headers(.low)["urgency"] == "low")
        #expect(self.headers()["content-encoding"] == "aes128gcm")
        #expect(self.headers()["topic"] == nil)
    }

    @Test func theTimeToLiveFollowsTheExpiration() {
        #expect(self.headers()["ttl"] == "2419200")
        #expect(self.headers(.low, .immediate)["ttl"] == "0")
        #expect(self.headers(.low, .at(seconds: 1_700_000_060))["ttl"] == "60")
        #expect(self.headers(.low, .at(seconds: 1))["ttl"] == "0", "it has passed")
        #expect(self.headers(.low, .at(seconds: .max))["ttl"] == "2419200")
        #expect(self.headers(.low, .at(seconds: .min))["ttl"] == "0")
    }

    @Test func topicsHaveALengthThatAppleDecodes() throws {
        let topic = try #require(self.headers(collapseID: "inbox")["topic"])
        #expect(topic.utf8.count == 32)
        #expect(Base64URL.decode(topic)?.count == 24)
        #expect(topic == WebPushMessage.topic("inbox") && topic != WebPushMessage.topic("inbox2"))
        let request = try WebPushRequest(hasBody: false) { $0 == "ttl" ? ["1"] : $0 == "topic" ? [topic] : [] }
        #expect(request.topic == topic)
    }
}
