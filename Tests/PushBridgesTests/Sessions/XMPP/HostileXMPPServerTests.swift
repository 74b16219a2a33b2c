import Crypto
import Foundation
import NIOCore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

@Suite struct HostileXMPPServerTests {
    /// Passes an exchange of SCRAM-SHA-1 whose server knows the password.
    private func authenticateWithSCRAM(_ session: inout XMPPSession) throws {
        _ = session.opened(at: ClockReading(.start))
        let features = """
            <stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>SCRAM-SHA-1</mechanism>\
            </mechanisms></stream:features>
            """
        let auth = session.received(XMPPSessionTests.header + features).text
        let sent = try #require(auth.split(separator: ">").last?.split(separator: "<").first)
        let first = String(decoding: try #require(Data(base64Encoded: String(sent))), as: UTF8.self).dropFirst(3)
        let nonce = try #require(first.split(separator: "r=").last)
        let challenge = "r=\(nonce)1,s=QSXCR+Q6sek8bf92,i=4096"
        let sasl = "xmlns='urn:ietf:params:xml:ns:xmpp-sasl'"
        let text = Data(challenge.utf8).base64EncodedString()
        let derive = session.received("<challenge \(sasl)>\(text)</challenge>")
        guard case .derive(let derivation)? = derive.first else { return #expect(derive == []) }
        let key = derivation.key()
        _ = session.derived(key, at: ClockReading(.start))
        let signed = "\(first),\(challenge),c=biws,r=\(nonce)1"
        func code(_ text: String, _ key: [UInt8]) -> [UInt8] {
            Array(HMAC<Insecure.SHA1>.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: key)))
        }
        let proof = "v=\(Data(code(signed, code("Server Key", key))).base64EncodedString())"
        let success = "<success \(sasl)>\(Data(proof.utf8).base64EncodedString())</success>"
        #expect(session.received(success).text.contains("<stream:stream"))
    }

    @Test func aServerThatUsedSCRAMNeverGetsThePassword() throws {
        var session = try XMPPSessionTests.session()
        #expect(!session.memory.usesSCRAM)
        try self.authenticateWithSCRAM(&session)
        #expect(session.memory.usesSCRAM)
        var next = try XMPPSessionTests.session(memory: session.memory)
        _ = next.opened(at: ClockReading(.start))
        let actions = next.received(XMPPSessionTests.header + XMPPSessionTests.mechanisms)
        #expect(actions.text.isEmpty && actions.failure?.isFinal == false)
        #expect(actions.failure?.reason.contains("PLAIN alone") == true)
        #expect(next.memory.usesSCRAM)
    }

    @Test func aServerWithTooManyRoundsIsRefused() throws {
        var scram = SCRAMClient(.sha256, account: "ada", password: "tea", nonce: "n")
        _ = try scram.received(first: "r=n1,s=QSXCR+Q6sek8bf92,i=100000")
        #expect(throws: ChatFailure.self) { try scram.received(first: "r=n1,s=QSXCR+Q6sek8bf92,i=100001") }
    }

    // MARK: Hostile servers

    @Test(arguments: ["<a/>", "<message from='b@x'><body>x</body></message>", "<iq type='get' id='1'/>"])
    func whatComesInPlaceOfTheFeaturesEndsTheStream(stanza: String) throws {
        for beginning in ["", XMPPSessionTests.mechanisms] {
            var session = try XMPPSessionTests.session()
            _ = session.opened(at: ClockReading(.start))
            let actions = session.received(XMPPSessionTests.header + beginning + stanza)
            #expect(actions.failure?.isFinal == false)
        }
    }

    @Test func emptyElementsCountBeforeTheSignInAndAfter() throws {
        let elements = String(repeating: "<a/>", count: 600)
        var session = try XMPPSessionTests.session()
        _ = session.opened(at: ClockReading(.start))
        #expect(session.received(XMPPSessionTests.header + "<stream:features>" + elements).failure == nil)
        #expect(session.received(elements).failure != nil)
        session = try XMPPSessionTests.signedIn()
        let stanza = "<x xmlns='x'>\(elements)</x>"
        for _ in 0..<33 { #expect(session.received(stanza, at: .after(1)).failure == nil) }
        #expect(session.pausedUntil == nil)
        #expect(session.received(stanza, at: .after(2)).failure == nil)
        #expect(session.pausedUntil == .after(10) && session.nextDeadline == .after(10))
        #expect(session.timePassed(at: ClockReading(.after(10))) == [] && session.pausedUntil == nil)
        // The next ten seconds have elements of their own.
        session = try XMPPSessionTests.signedIn()
        for second in 0..<20 { for _ in 0..<16 { _ = session.received(stanza, at: .after(Int64(second) * 10)) } }
        #expect(session.received(stanza, at: .after(200)).failure == nil && session.pausedUntil == nil)
    }

    /// A server routes what strangers send, and sends it again to a session that has ended without acknowledging it.
    @Test func theMessageOfAStrangerEndsNoSession() throws {
        var session = try XMPPSessionTests.signedIn()
        var (now, pauses) = (Timestamp.after(1), 0)
        func receive(_ text: String) -> [ChatAction] {
            let actions = session.received(text, at: now)
            #expect(actions.failure == nil)
            if let end = session.pausedUntil {
                (now, pauses) = (end, pauses + 1)
                #expect(session.timePassed(at: ClockReading(now)).failure == nil)
            }
            return actions
        }
        #expect(receive("<message from='eve@example.net/x' type='chat'><body>x</body>") == [])
        for _ in 0..<30 { #expect(receive(String(repeating: "<a/>", count: 2000)) == []) }
        #expect(receive("</message>").messages.isEmpty)
        #expect(pauses == 2)
        let next = receive("<message from='bob@example.org/x' type='chat'><body>tea?</body></message>")
        #expect(next.messages.map(\.text) == ["tea?"])
        // It is acknowledged with the others.
        #expect(receive("<r xmlns='urn:xmpp:sm:3'/>").text.contains("h='2'"))
    }

    /// Neither does one that is nested deeper than any is read.
    @Test func theDepthOfAStrangersMessageEndsNoSession() throws {
        var session = try XMPPSessionTests.signedIn()
        let deep = String(repeating: "<a>", count: 100) + String(repeating: "</a>", count: 100)
        let message = "<message from='eve@example.net/x' type='chat'><body>x</body>\(deep)</message>"
        let actions = session.received(message)
        #expect(actions.failure == nil && actions.messages.isEmpty)
        // Before the sign-in nothing of strangers is routed.
        session = try XMPPSessionTests.session()
        _ = session.opened(at: ClockReading(.start))
        #expect(session.received(XMPPSessionTests.header + "<stream:features>\(deep)").failure != nil)
    }

    @Test(arguments: PoisonedStanza.allCases, [1000, Int.max])
    func noStanzaOfAStrangerEndsASession(stanza: PoisonedStanza, piece: Int) throws {
        var session = try XMPPSessionTests.signedIn()
        let poisoned = stanza.text("<message from='eve@example.net/x' type='chat'")
        let next = "<message from='bob@example.org/x' type='chat'><body>tea?</body></message><r xmlns='urn:xmpp:sm:3'/>"
        var rest = Array((poisoned + next).utf8)[...]
        var actions: [ChatAction] = []
        while !rest.isEmpty {
            actions += session.received(ByteBuffer(bytes: rest.prefix(piece)), at: ClockReading(.after(1)))
            rest = rest.dropFirst(piece)
        }
        #expect(actions.failure == nil && actions.messages.map(\.text) == ["tea?"])
        // Both are acknowledged, so that the server sends neither again.
        #expect(actions.text == "<a xmlns='urn:xmpp:sm:3' h='2'/>")
    }

    /// The server would send it again on the stream that is resumed.
    @Test func aStreamThatCannotBeReadIsNotResumed() throws {
        var session = try XMPPSessionTests.signedIn()
        #expect(session.memory.resumption != nil)
        #expect(session.received("<message></presence>").failure?.isFinal == false)
        #expect(session.memory.resumption == nil)
    }

    @Test func theQueriesOfAContactEndNoSession() throws {
        var session = try XMPPSessionTests.signedIn()
        var answers = 0
        for number in 0..<1000 {
            let ping = "<iq type='get' id='\(number)' from='eve@example.net/x'><ping xmlns='urn:xmpp:ping'/></iq>"
            let actions = session.received(ping)
            #expect(actions.failure == nil)
            if !actions.isEmpty { answers += 1 }
        }
        // Carbons and presence wait too.
        #expect(answers == 30)
        _ = session.received("<a xmlns='urn:xmpp:sm:3' h='32'/>")
        let ping = "<iq type='get' id='p' from='example.org'><ping xmlns='urn:xmpp:ping'/></iq>"
        #expect(session.received(ping).text == "<iq id='p' to='example.org' type='result'/>")
    }
}
