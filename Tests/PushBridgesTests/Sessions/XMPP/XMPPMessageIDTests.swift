import Foundation
import ProviderModel
import PushStore
import PushTypes
import Testing

@testable import PushBridges

/// The names by which messages are known again: what has one of them was pushed before.
@Suite struct XMPPMessageIDTests {
    private static let delay = "<delay xmlns='urn:xmpp:delay' stamp='2023-11-14T22:13:20Z'/>"
    private static let encrypted = "encrypted xmlns='eu.siacs.conversations.axolotl'"

    /// Returns the key of a message by Bob.
    private func key(_ content: String, id: String = "1", after seconds: Int64 = 0) throws -> Idempotency {
        var session = try XMPPSessionTests.signedIn()
        let text = "<message from='bob@example.com/phone' type='chat' id='\(id)'>\(content)</message>"
        let message = try #require(session.received(text, at: .after(seconds)).messages.first)
        let request = ChatPushRequest(
            ChatPush(message, count: 1),
            session: UUID(uuidString: "00000000-0000-4000-8000-000000000001") ?? UUID(),
            user: "ada",
            bridge: "xmpp:example.org",
            showsText: true
        )
        return request.idempotency
    }

    /// Some clients count their messages anew with each start.
    @Test func anIDThatASenderUsesAgainIsAnotherMessage() throws {
        let first = try self.key("<body>tea?</body>")
        #expect(try self.key("<body>cake?</body>") != first)
        #expect(try self.key("<body>tea?</body>", id: "2") != first)
        #expect(try self.key("<body>tea?</body>", after: 86_400) != first, "the same words of another day")
        // What only the app can read has the same words for all others.
        let said = ["QQ==", "Qg=="].map { "<\(Self.encrypted)><payload>\($0)</payload></encrypted><body>secret</body>" }
        #expect(try self.key(said[0]) != self.key(said[1]))
        #expect(try self.key(said[0]) == self.key(said[0]))
    }

    /// A server sends what was not acknowledged once more, with the time at which it came.
    @Test func aMessageThatComesAgainIsTheSame() throws {
        let first = try self.key("<body>tea?</body>")
        #expect(try self.key("<body>tea?</body>", after: 1) == first)
        #expect(try self.key("<body>tea?</body>\(Self.delay)", after: 90_000) == first)
    }

    /// The own server's id says it all, whatever the sender's is.
    @Test func theIDOfTheOwnServerCountsAlone() throws {
        func given(_ id: String) -> String {
            "<body>tea?</body><stanza-id xmlns='urn:xmpp:sid:0' by='ada@example.org' id='\(id)'/>"
        }
        #expect(try self.key(given("s1"), after: 86_400) == self.key(given("s1"), id: "2"))
        #expect(try self.key(given("s1")) != self.key(given("s2")))
    }

    @Test func longIDsWithOneBeginningAreTwo() throws {
        let beginning = String(repeating: "x", count: 300)
        let body = "<body>tea?</body>"
        #expect(try self.key(body, id: beginning + "1") != self.key(body, id: beginning + "2"))
        let ids = ["1", "2"].map { end in
            ChatMessage(sender: "b", conversation: "b", isDirect: true, text: "", id: beginning + end, at: .start).id
        }
        #expect(ids[0] != ids[1])
        #expect(ids.allSatisfy { ($0 ?? "").utf8.count == 64 })
    }
}
