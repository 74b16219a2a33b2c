import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

@Suite struct XMPPSessionTests {
    static let header = """
        <?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' \
        from='example.org' id='1' version='1.0'>
        """
    static let mechanisms = """
        <stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>PLAIN</mechanism>
        </mechanisms></stream:features>
        """
    static let features = """
        <stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/><sm xmlns='urn:xmpp:sm:3'/>\
        <csi xmlns='urn:xmpp:csi:0'/></stream:features>
        """
    static let bound = """
        <iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\
        <jid>ada@example.org/martlet-1</jid></bind></iq>
        """
    static let success = "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>"

    static func session(
        _ settings: [String: JSONValue] = ["tls": "direct"],
        account: String = "ada@example.org",
        memory: ChatMemory = ChatMemory(seenThrough: .start)
    ) throws -> XMPPSession {
        let login = ChatLogin(
            host: "xmpp.example.org",
            port: 5222,
            account: account,
            password: "tea",
            settings: .object(settings),
            clientName: "martlet-1"
        )
        return try XMPPSession(login, memory: memory)
    }

    /// Passes the authentication, and returns what follows the features.
    static func authenticate(_ session: inout XMPPSession, features: String = Self.features) -> [ChatAction] {
        _ = session.opened(at: ClockReading(.start))
        _ = session.received(Self.header + Self.mechanisms)
        _ = session.received(Self.success)
        return session.received(Self.header + features)
    }

    /// Returns a session that is signed in, whose server counts stanzas.
    static func signedIn() throws -> XMPPSession {
        var session = try Self.session()
        _ = Self.authenticate(&session)
        #expect(session.received(Self.bound).contains(.signedIn))
        _ = session.received("<enabled xmlns='urn:xmpp:sm:3' id='s1' resume='true'/>")
        return session
    }

    /// An address has a greatest length, and nothing longer is compared.
    @Test func anAddressThatIsTooLongIsNobodys() throws {
        let account = try XMPPAccount("Ada@Example.org")
        #expect(account.owns("ada@example.ORG/phone") && account.owns("ADA@example.org"))
        #expect(!account.owns("ada@example.net") && !account.owns("ada"))
        #expect(!account.owns("ada@example.org/" + String(repeating: "x", count: 3100)))
    }

    // MARK: Signing in

    @Test func itBeginsTLSBeforeItSaysWhoItIs() throws {
        var session = try Self.session([:])
        #expect(session.serverName == "example.org" && !session.isSecureFromStart)
        let first = session.opened(at: ClockReading(.start)).text
        #expect(first.contains("to='example.org'") && !first.contains("ada"))
        let features = "<stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>"
        #expect(session.received(Self.header + features).text == "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
        // What comes with the permission, in clear text, is not read.
        let proceed = "<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"
        #expect(session.received(proceed + proceed + Self.mechanisms) == [.startTLS])
        #expect(session.received(Self.header + Self.mechanisms) == [])
        #expect(session.secured(at: ClockReading(.start)).text.contains("from='ada@example.org'"))
        #expect(session.received(Self.header + Self.mechanisms).text.contains("mechanism='PLAIN'"))
    }

    @Test func withoutTLSNothingIsSent() throws {
        var session = try Self.session([:])
        _ = session.opened(at: ClockReading(.start))
        let actions = session.received(Self.header + Self.mechanisms)
        #expect(actions.failure?.isFinal == false && actions.text.isEmpty)
    }

    @Test func nothingThatIsSaidWithoutTLSEndsTheSessionForGood() throws {
        let unknown = "<stream:error><host-unknown xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>"
        for (settings, isFinal) in [([:], false), (["tls": "direct"], true)] as [([String: JSONValue], Bool)] {
            var session = try Self.session(settings)
            _ = session.opened(at: ClockReading(.start))
            #expect(session.received(Self.header + unknown).failure?.isFinal == isFinal)
        }
    }

    @Test func itSignsInAndBinds() throws {
        var session = try Self.session()
        _ = session.opened(at: ClockReading(.start))
        let auth = session.received(Self.header + Self.mechanisms).text
        #expect(auth == "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>AGFkYQB0ZWE=</auth>")
        #expect(session.received(Self.success).text.contains("<stream:stream"))
        let bind = session.received(Self.header + Self.features)
        #expect(bind.text.contains("<resource>martlet-1</resource>") && bind.contains(.attached(false)))
        let actions = session.received(Self.bound)
        #expect(actions.last == .signedIn)
        let parts = [
            "<enable xmlns='urn:xmpp:sm:3' resume='true'/>", "urn:xmpp:carbons:2", "<show>xa</show>",
        ]
        #expect(parts.allSatisfy(actions.text.contains))
        let enabled = session.received("<enabled xmlns='urn:xmpp:sm:3' id='s1' resume='true'/>")
        #expect(enabled.text == "<r xmlns='urn:xmpp:sm:3'/>")
        #expect(session.received("<a xmlns='urn:xmpp:sm:3' h='2'/>") == [])
    }

    @Test(arguments: ["<sm xmlns='urn:xmpp:sm:3'/>", ""])
    func noServerMayHoldBackWhereTheUserIs(management: String) throws {
        var session = try Self.session()
        let features = "<stream:features>\(management)<csi xmlns='urn:xmpp:csi:0'/></stream:features>"
        var actions = Self.authenticate(&session, features: features)
        actions += session.received(Self.bound)
        if !management.isEmpty {
            actions += session.received("<enabled xmlns='urn:xmpp:sm:3' id='s1' resume='true'/>")
            actions += session.received("<a xmlns='urn:xmpp:sm:3' h='2'/>")
        }
        #expect(actions.contains(.signedIn) && !actions.text.contains("urn:xmpp:csi:0"))
    }

    @Test func aServerThatCountsNothingIsNotAskedTo() throws {
        var session = try Self.session()
        let features = "<stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></stream:features>"
        _ = Self.authenticate(&session, features: features)
        let text = session.received(Self.bound).text
        #expect(!text.contains("urn:xmpp:sm:3") && !text.contains("inactive"))
        #expect(session.memory.resumption == nil)
        #expect(session.timePassed(at: ClockReading(.after(120))).text.contains("urn:xmpp:ping"))
    }

    @Test func theStrongestMechanismIsChosen() throws {
        var session = try Self.session()
        _ = session.opened(at: ClockReading(.start))
        let names = ["PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-256-PLUS", "SCRAM-SHA-256", "X"]
        let list = names.map { "<mechanism>\($0)</mechanism>" }.joined()
        let features =
            "<stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\(list)</mechanisms></stream:features>"
        let auth = session.received(Self.header + features).text
        #expect(auth.contains("mechanism='SCRAM-SHA-256'"))
        // The challenge leads to a key, and a server without proof is refused.
        let first = try #require(auth.split(separator: ">").last?.split(separator: "<").first)
        let text = String(decoding: try #require(Data(base64Encoded: String(first))), as: UTF8.self)
        let nonce = try #require(text.split(separator: "r=").last)
        let challenge = Data("r=\(nonce)1,s=QSXCR+Q6sek8bf92,i=4096".utf8).base64EncodedString()
        let sasl = "xmlns='urn:ietf:params:xml:ns:xmpp-sasl'"
        let derive = session.received("<challenge \(sasl)>\(challenge)</challenge>")
        guard case .derive(let derivation)? = derive.first else { return #expect(derive == []) }
        #expect(derivation.hash == .sha256 && derivation.password == "tea")
        #expect(session.derived(derivation.key(), at: ClockReading(.start)).text.hasPrefix("<response "))
        let forged = Data("v=\(Data(repeating: 1, count: 32).base64EncodedString())".utf8).base64EncodedString()
        #expect(session.received("<success \(sasl)>\(forged)</success>").failure?.isFinal == true)
    }

    @Test(arguments: [("not-authorized", true), ("account-disabled", true), ("temporary-auth-failure", false)])
    func aRefusalOfThePasswordIsFinal(condition: String, isFinal: Bool) throws {
        var session = try Self.session()
        _ = session.opened(at: ClockReading(.start))
        _ = session.received(Self.header + Self.mechanisms)
        let failure = "<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><\(condition)/><text>x</text></failure>"
        #expect(session.received(failure).failure?.isFinal == isFinal)
        #expect(session.nextDeadline == nil)
    }

    @Test(arguments: [
        ("<stream:error><host-unknown xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>", true),
        ("<stream:error><conflict xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>", false),
        ("</stream:stream>", false), ("<!DOCTYPE x>", false), ("<a><b></a></b>", false), ("<a>&x;</a>", false),
    ])
    func theEndOfTheStreamIsAFailure(text: String, isFinal: Bool) throws {
        var session = try Self.signedIn()
        #expect(session.received(text).failure?.isFinal == isFinal)
        #expect(session.received("<message from='bob@example.org' type='chat'><body>x</body></message>") == [])
    }

    @Test(arguments: ["ada", "ada@", "@x", "ada@x/y", "a b@x", "a@b@c", "ada@x'", ""])
    func anAccountIsABareAddress(account: String) {
        #expect(throws: RequestError.self) { try Self.session(account: account) }
    }

    // MARK: Counting and resuming

    @Test func stanzasAreCountedAndAcknowledged() throws {
        var session = try Self.signedIn()
        _ = session.received("<message/><presence/><iq type='result' id='carbons'/>")
        #expect(session.received("<r xmlns='urn:xmpp:sm:3'/>").text == "<a xmlns='urn:xmpp:sm:3' h='3'/>")
        // Carbons and presence.
        #expect(session.memory.resumption?.waiting.count == 2)
        #expect(session.received("<a xmlns='urn:xmpp:sm:3' h='2'/>").failure == nil)
        #expect(session.memory.resumption?.waiting.isEmpty == true)
        #expect(session.received("<a xmlns='urn:xmpp:sm:3' h='3'/>").failure?.isFinal == false)
    }

    @Test func aStreamIsResumed() throws {
        var session = try Self.signedIn()
        _ = session.received("<presence from='ada@example.org/phone'/><message/>")
        var next = try Self.session(memory: session.memory)
        let resume = Self.authenticate(&next).text
        #expect(resume == "<resume xmlns='urn:xmpp:sm:3' h='2' previd='s1'/>")
        let actions = next.received("<resumed xmlns='urn:xmpp:sm:3' h='1' previd='s1'/>")
        #expect(actions.last == .signedIn)
        // What was not acknowledged is sent again, and the user is where they were.
        #expect(actions.text.contains("<show>xa</show>") && !actions.text.contains("carbons"))
        #expect(next.received("<presence from='ada@example.org/phone' type='unavailable'/>") == [.attached(false)])
        #expect(next.received("<r xmlns='urn:xmpp:sm:3'/>").text == "<a xmlns='urn:xmpp:sm:3' h='3'/>")
    }

    @Test func aStreamThatIsForgottenBeginsAnew() throws {
        var next = try Self.session(memory: try Self.signedIn().memory)
        _ = Self.authenticate(&next)
        let actions = next.received("<failed xmlns='urn:xmpp:sm:3'><item-not-found xmlns='x'/></failed>")
        #expect(actions.text.contains("<resource>") && actions.contains(.attached(false)))
        #expect(next.memory.resumption == nil)
        #expect(next.received(Self.bound).last == .signedIn)
    }

    @Test func aLostConnectionBeforeTheResumptionLosesNothing() throws {
        let memory = try Self.signedIn().memory
        var next = try Self.session(memory: memory)
        _ = Self.authenticate(&next)
        #expect(next.memory == memory)
    }

    @Test func aGoodbyeEndsTheStream() throws {
        var session = try Self.signedIn()
        let text = String(decoding: session.leave(), as: UTF8.self)
        #expect(text == "<presence type='unavailable'/></stream:stream>")
        #expect(session.memory.resumption == nil && session.leave().isEmpty)
    }

    @Test func silenceIsAskedAboutAndThenAFailure() throws {
        var session = try Self.signedIn()
        #expect(session.timePassed(at: ClockReading(.after(119))) == [])
        #expect(session.timePassed(at: ClockReading(.after(120))).text == "<r xmlns='urn:xmpp:sm:3'/>")
        _ = session.received("<a xmlns='urn:xmpp:sm:3' h='2'/>", at: .after(130))
        #expect(session.nextDeadline == .after(250))
        _ = session.timePassed(at: ClockReading(.after(250)))
        #expect(session.timePassed(at: ClockReading(.after(310))).failure?.isFinal == false)
    }

    // MARK: Stanzas

    private func messages(_ text: String) throws -> [ChatMessage] {
        var session = try Self.signedIn()
        return session.received(text, at: .after(60)).messages
    }

    @Test func aMessageHasSenderTextAndID() throws {
        let message = try self.messages(
            """
            <message from='bob@example.com/phone' type='chat' id='m1'><body>tea &amp; cake?</body>
            <stanza-id xmlns='urn:xmpp:sid:0' by='evil@example.com' id='s0'/>
            <stanza-id xmlns='urn:xmpp:sid:0' by='ada@example.org' id='s1'/>
            <delay xmlns='urn:xmpp:delay' stamp='2023-11-14T22:13:40Z'/></message>
            """
        ).first
        #expect(message?.sender == "bob@example.com" && message?.conversation == "bob@example.com")
        #expect(message?.isDirect == true && message?.text == "tea & cake?" && message?.id == "s1")
        #expect(message?.at == .after(20))
    }

    @Test func anEncryptedMessageHasNoText() throws {
        let text =
            "<message from='b@x'><encrypted xmlns='eu.siacs.conversations.axolotl'/><body>cannot show</body></message>"
        let message = try self.messages(text).first
        #expect(message != nil && message?.text == nil)
    }

    @Test(arguments: [
        "<message from='b@x' type='groupchat'><body>x</body></message>",
        "<message from='b@x' type='error'><body>x</body></message>",
        "<message from='b@x' type='headline'><body>x</body></message>", "<message from='b@x'/>",
        "<message from='b@x'><body/></message>", "<message><body>x</body></message>",
        "<message from='ada@example.org/x'><body>x</body></message>", "<body xmlns='jabber:client'>x</body>",
    ])
    func whatIsNotForPeopleIsNoMessage(text: String) throws {
        #expect(try self.messages(text).isEmpty)
    }

    private func carbon(_ direction: String, outer: String, _ inner: String) -> String {
        """
        <message from='\(outer)'><\(direction) xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
        <message xmlns='jabber:client' \(inner)><body>hi</body></message></forwarded></\(direction)></message>
        """
    }

    @Test func carbonsOfTheOwnServerCount() throws {
        let own = self.carbon("received", outer: "ada@example.org", "from='b@x/1' type='chat'")
        #expect(try self.messages(own).first?.sender == "b@x")
        // Anybody could send what looks like one.
        let forged = self.carbon("received", outer: "evil@x", "from='b@x/1' type='chat'")
        #expect(try self.messages(forged).isEmpty)
        var session = try Self.signedIn()
        let sent = self.carbon("sent", outer: "ada@example.org", "from='ada@example.org/phone' to='b@x/1' type='chat'")
        #expect(session.received(sent) == [.wroteElsewhere(conversation: "b@x")])
        let forgedSent = self.carbon("sent", outer: "evil@x", "from='ada@example.org/phone' to='b@x/1' type='chat'")
        #expect(session.received(forgedSent) == [])
    }

    @Test func theUserIsThereWhileAnotherClientIs() throws {
        var session = try Self.signedIn()
        func receive(_ resource: String, _ more: String) -> [ChatAction] {
            session.received("<presence from='ada@example.org/\(resource)'\(more)")
        }
        #expect(receive("martlet-1", "/>") == [])
        #expect(receive("phone", "><priority>-1</priority></presence>") == [])
        #expect(receive("phone", "><show>away</show></presence>") == [])
        #expect(receive("phone", "/>") == [.attached(true)])
        #expect(receive("desk", "><show>dnd</show></presence>") == [])
        #expect(receive("phone", "><show>xa</show></presence>") == [])
        #expect(receive("desk", " type='unavailable'/>") == [.attached(false)])
        #expect(session.received("<presence from='bob@example.org/x'/>") == [])
    }

    @Test func pingsAreAnsweredAndOtherQueriesRefused() throws {
        var session = try Self.signedIn()
        let ping = "<iq type='get' id='p' from='example.org'><ping xmlns='urn:xmpp:ping'/></iq>"
        #expect(session.received(ping).text == "<iq id='p' to='example.org' type='result'/>")
        let query = session.received("<iq type='set' id='&lt;' from='b@x'><query xmlns='x'/></iq>").text
        #expect(query.contains("id='&lt;'") && query.contains("service-unavailable") && query.contains("type='error'"))
        #expect(session.received("<iq type='result' id='q'/><iq type='get'/>") == [])
    }

    @Test func aServerThatAcknowledgesNothingIsLeft() throws {
        var session = try Self.signedIn()
        var failure: ChatFailure?
        for _ in 0..<100 where failure == nil {
            failure = session.send(XMLElement("presence", namespace: "jabber:client")).failure
        }
        #expect(failure?.isFinal == false)
    }
}
