import Foundation
import ProviderModel
import PushBridges
import PushProvider
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@Suite struct ChatPushRequestTests {
    private func request(
        _ text: String?,
        isDirect: Bool = false,
        count: Int = 1,
        id: String? = "m1",
        showsText: Bool = true
    ) -> ChatPushRequest {
        let message = ChatMessage(
            sender: "bob",
            conversation: isDirect ? "bob" : "#Lab",
            isDirect: isDirect,
            text: text,
            id: id,
            at: .start
        )
        return ChatPushRequest(
            ChatPush(message, count: count),
            session: UUID(uuidString: "00000000-0000-4000-8000-000000000001") ?? UUID(),
            user: "ada",
            bridge: "irc:irc.example.org",
            showsText: showsText
        )
    }

    private func alert(_ request: ChatPushRequest) -> JSONValue { request.payload["aps"]["alert"] }

    @Test func thePayloadNamesTheConversation() {
        let payload = self.request("ada: tea?").payload
        #expect(payload["aps"]["alert"] == ["title": "#Lab", "subtitle": "bob", "body": "ada: tea?"])
        #expect(payload["aps"]["thread-id"] == "irc:irc.example.org/#lab")
        #expect(payload["session"]["conversation"] == "#Lab" && payload["session"]["sender"] == "bob")
    }

    @Test func textIsShownWhereItIsWanted() {
        #expect(self.alert(self.request("tea?", isDirect: true)) == ["title": "bob", "body": "tea?"])
        #expect(self.alert(self.request("tea?", count: 3)) == ["title": "#Lab", "subtitle": "bob (3)", "body": "tea?"])
        #expect(self.alert(self.request("tea?", showsText: false)) == ["title": "#Lab", "body": "bob"])
        let direct = self.request("tea?", isDirect: true, showsText: false)
        #expect(self.alert(direct) == ["title": "irc:irc.example.org", "body": "bob"])
        // A message that only the app can decrypt.
        #expect(self.alert(self.request(nil)) == ["title": "#Lab", "body": "bob"])
    }

    @Test func noMessageIsATemplate() throws {
        let bundleID = try #require(Topic(Vectors.bundleID))
        let request = try self.request("{{name}} {% x").notification(bundleID: bundleID, now: .start)
        #expect(String(decoding: request.content.payload, as: UTF8.self).contains("{{name}} {% x"))
        #expect(!request.content.isTemplate)
    }

    @Test(arguments: [String(repeating: "\u{1f375}", count: 5000), String(repeating: "\"", count: 9000)])
    func aLongMessageFits(text: String) throws {
        let bundleID = try #require(Topic(Vectors.bundleID))
        let request = try self.request(text).notification(bundleID: bundleID, now: .start)
        #expect(request.content.payload.count <= 4096)
    }

    @Test func aNameOfOneEndlessCharacterIsCutToo() {
        let name = "a" + String(repeating: "\u{301}", count: 500)
        let message = ChatMessage(sender: name, conversation: name, isDirect: true, text: nil, at: .start)
        #expect(message.sender.utf8.count == 255 && message.sender.unicodeScalars.first == "a")
    }

    @Test func aMessageThatIsReplayedHasTheSameKey() {
        let first = self.request("a").idempotency
        #expect(self.request("b", count: 2).idempotency == first)
        #expect(self.request("a", id: "m2").idempotency != first)
        #expect(self.request("a", id: nil).idempotency == self.request("a", id: nil).idempotency)
        #expect(self.request("b", id: nil).idempotency != self.request("a", id: nil).idempotency)
        #expect(self.request("a", isDirect: true).idempotency != first)
    }
}
