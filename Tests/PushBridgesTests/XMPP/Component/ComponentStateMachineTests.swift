import NIOCore
import PushTesting
import Testing

@testable import PushBridges

@Suite struct ComponentStateMachineTests {
    static let header = """
        <?xml version='1.0'?><stream:stream xmlns='jabber:component:accept' \
        xmlns:stream='http://etherx.jabber.org/streams' from='push.example.org' id='3BF96D32'>
        """
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    /// A machine whose server has accepted it, and its answers.
    private func open(_ dialects: Set<RegistrationDialect> = []) -> ComponentStateMachine {
        var machine = ComponentStateMachine(domain: "push.example.org", secret: "test", dialects: dialects)
        _ = machine.connected(now: self.start)
        _ = machine.received(Array((Self.header + "<handshake/>").utf8), now: self.start)
        return machine
    }

    private func receive(_ machine: inout ComponentStateMachine, _ text: String) -> [ComponentAction] {
        machine.received(Array(text.utf8), now: self.start)
    }

    /// Returns the one stanza that a machine answers to a text.
    private func answer(_ text: String, _ dialects: Set<RegistrationDialect> = []) throws -> XMLElement {
        var machine = self.open(dialects)
        let actions = self.receive(&machine, text)
        guard actions.count == 1, case .write(let written) = actions[0] else {
            Issue.record("not one answer: \(actions)")
            throw CancellationError()
        }
        return try Self.stanza(written)
    }

    static func stanza(_ text: String) throws -> XMLElement {
        var parser = XMPPStreamParser()
        try parser.receive(Array((Self.header + text).utf8))
        _ = try parser.next()
        guard case .stanza(let stanza)? = try parser.next() else { throw CancellationError() }
        return stanza
    }

    // MARK: The link

    /// Vector X1.
    @Test func theSecretIsProven() {
        #expect(
            ComponentHandshake.proof(stream: "3BF96D32", secret: "test") == "aaee83c26aeeafcbabeabfcbcd50df997e0a2a1e"
        )
        let proof = ComponentHandshake.proof(stream: "martlet-1", secret: "s3cr3t-component")
        #expect(proof == "d81559f4d970490312eff90c00093fb7e3f78166")
    }

    @Test func theStreamIsOpenedAndProven() {
        var machine = ComponentStateMachine(domain: "Push.Example.org", secret: "test")
        let opening = """
            <?xml version='1.0'?><stream:stream xmlns='jabber:component:accept' \
            xmlns:stream='http://etherx.jabber.org/streams' to='push.example.org'>
            """
        #expect(machine.connected(now: self.start) == [.write(opening)])
        let proof = "<handshake>aaee83c26aeeafcbabeabfcbcd50df997e0a2a1e</handshake>"
        #expect(self.receive(&machine, Self.header) == [.write(proof)])
        #expect(self.receive(&machine, "<handshake/>") == [.established])
    }

    @Test(arguments: [
        ("not-authorized", XMPPStreamError.Condition.notAuthorized), ("host-unknown", .hostUnknown),
        ("conflict", .conflict),
        ("system-shutdown", .systemShutdown), ("of-the-future", .undefinedCondition),
    ])
    func aRefusalEndsTheLink(name: String, condition: XMPPStreamError.Condition) {
        let error =
            "<stream:error><\(name) xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error></stream:stream>"
        var opening = ComponentStateMachine(domain: "push.example.org", secret: "test")
        _ = opening.connected(now: self.start)
        let ending: [ComponentAction] = [.write("</stream:stream>"), .close(.refused(condition))]
        #expect(self.receive(&opening, Self.header.replacing(" id='3BF96D32'", with: "") + error) == ending)
        var open = self.open()
        #expect(self.receive(&open, error) == ending)
        #expect(self.receive(&open, "<iq/>") == [])
        #expect(open.deadline == nil)
    }

    @Test func theEndOfTheStreamEndsTheLink() {
        var machine = self.open()
        #expect(self.receive(&machine, "</stream:stream>") == [.write("</stream:stream>"), .close(.ended)])
    }

    @Test func whatIsNoStreamEndsTheLink() {
        var machine = ComponentStateMachine(domain: "push.example.org", secret: "test")
        _ = machine.connected(now: self.start)
        let actions = self.receive(&machine, "HTTP/1.1 400 Bad Request\r\n\r\n")
        let error =
            "<stream:error><bad-format xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error></stream:stream>"
        #expect(actions.first == .write(error))
        guard case .close(.malformed(let fault))? = actions.last else {
            Issue.record("not closed: \(actions)")
            return
        }
        #expect(fault.condition == .badFormat)
    }

    @Test(arguments: ["<message/>", "<iq type='get' id='1' from='a.example'><ping xmlns='urn:xmpp:ping'/></iq>"])
    func whatComesBeforeTheComponentIsAcceptedEndsTheLink(stanza: String) {
        for header in [Self.header, Self.header.replacing(" id='3BF96D32'", with: "")] {
            var machine = ComponentStateMachine(domain: "push.example.org", secret: "test")
            _ = machine.connected(now: self.start)
            guard case .close(.malformed(let fault))? = self.receive(&machine, header + stanza).last else {
                Issue.record("not closed")
                return
            }
            #expect(fault.condition == .unsupportedStanzaType)
        }
    }

    @Test func anotherNamespaceEndsTheLink() {
        var machine = ComponentStateMachine(domain: "push.example.org", secret: "test")
        _ = machine.connected(now: self.start)
        let actions = self.receive(&machine, Self.header.replacing("jabber:component:accept", with: "jabber:client"))
        guard case .close(.malformed(let fault))? = actions.last else {
            Issue.record("not closed: \(actions)")
            return
        }
        #expect(fault.condition == .invalidNamespace)
    }

    // MARK: Requests

    static let publish = """
        <iq type='set' from='example.com' to='push.example.org' id='n12'><pubsub xmlns='http://jabber.org/protocol/pubsub'>\
        <publish node='n-A'><item><notification xmlns='urn:xmpp:push:0'><x xmlns='jabber:x:data' type='form'>\
        <field var='FORM_TYPE' type='hidden'><value>urn:xmpp:push:summary</value></field>\
        <field var='message-count'><value>1</value></field>\
        <field var='last-message-body'><value>New Message!</value></field></x></notification></item></publish>\
        <publish-options><x xmlns='jabber:x:data' type='submit'>\
        <field var='FORM_TYPE'><value>http://jabber.org/protocol/pubsub#publish-options</value></field>\
        <field var='secret'><value>s-A</value></field></x></publish-options></pubsub></iq>
        """

    static func publish(from domain: String) -> String {
        Self.publish.replacing("from='example.com'", with: "from='\(domain)'")
    }

    static func request(_ publish: PushPublish) throws -> ComponentRequest {
        let stanza = RequestStanza(id: "n12", from: "example.com", to: "push.example.org")
        return ComponentRequest(
            stanza: stanza,
            kind: .publish(publish),
            from: try #require(JabberAddress("example.com"))
        )
    }

    /// Vector X2, as far as the link has to do with it.
    @Test(arguments: [1, 13, Int.max]) func aPublishIsHandedOnAndAnswered(piece: Int) throws {
        var machine = self.open()
        var actions: [ComponentAction] = []
        var rest = Array(Self.publish.utf8)[...]
        while !rest.isEmpty {
            actions += machine.received(rest.prefix(piece), now: self.start)
            rest = rest.dropFirst(piece)
        }
        let request = try Self.request(PushPublish(node: "n-A", secret: "s-A", hasMessageText: true))
        #expect(actions == [.request(request)])
        let response = ComponentResponse(stanza: request.stanza, answer: .result(nil))
        let answer = "<iq from='push.example.org' id='n12' to='example.com' type='result'/>"
        #expect(machine.answered(response, now: self.start) == [.write(answer)])
    }

    /// Vector X4, as far as the link has to do with it.
    @Test func anErrorHasItsTypeAndCondition() throws {
        var machine = self.open()
        _ = self.receive(&machine, Self.publish)
        let request = try Self.request(PushPublish(node: "n-A", secret: "s-A", hasMessageText: true))
        let response = ComponentResponse(stanza: request.stanza, answer: .error(.itemNotFound))
        guard case .write(let text)? = machine.answered(response, now: self.start).first else {
            Issue.record("no answer")
            return
        }
        let expected = """
            <iq type='error' from='push.example.org' to='example.com' id='n12'><error type='cancel'>\
            <item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            """
        #expect(try Self.stanza(text) == Self.stanza(expected))
    }

    /// Vector X6.
    @Test func discoNamesThePushService() throws {
        let query = "<query xmlns='http://jabber.org/protocol/disco#info'/>"
        let answer = try self.answer("<iq type='get' from='a@example.com/x' to='push.example.org' id='d'>\(query)</iq>")
        let info = try #require(answer.child("query", "http://jabber.org/protocol/disco#info"))
        let identity = try #require(info.children.first)
        #expect(identity["category"] == "pubsub" && identity["type"] == "push")
        let features = Set(info.children.compactMap { $0["var"] })
        #expect(features.isSuperset(of: ["urn:xmpp:push:0", "urn:xmpp:ping", "http://jabber.org/protocol/pubsub"]))
        #expect(!features.contains("http://jabber.org/protocol/commands"))
    }

    @Test func discoNamesTheCommands() throws {
        let query = "<query xmlns='http://jabber.org/protocol/disco#items' node='http://jabber.org/protocol/commands'/>"
        let iq = "<iq type='get' from='a@example.com/x' to='push.example.org' id='d'>\(query)</iq>"
        let none = try self.answer(iq)
        #expect(none.children.first?.children.isEmpty == true)
        let items = try self.answer(iq, [.p2, .tigase]).children.first?.children ?? []
        let commands = ["register-push-apns", "unregister-push-apns", "register-device", "unregister-device"]
        #expect(items.compactMap { $0["node"] } == commands)
        #expect(items.allSatisfy { $0["jid"] == "push.example.org" })
    }

    @Test func aPingIsAnswered() throws {
        let ping = "<iq type='get' from='example.com' id='p'><ping xmlns='urn:xmpp:ping'/></iq>"
        let answer = try self.answer(ping)
        #expect(answer.attributes == ["type": "result", "id": "p", "from": "push.example.org", "to": "example.com"])
    }

    @Test(arguments: [
        "<iq type='get' from='a' to='push.example.org' id='1'><query xmlns='jabber:iq:version'/></iq>",
        "<iq type='get' from='a' to='x@push.example.org' id='1'><ping xmlns='urn:xmpp:ping'/></iq>",
        "<iq type='set' from='a' to='push.example.org' id='1'/>",
        "<iq type='set' from='a' id='1'><command xmlns='http://jabber.org/protocol/commands' node='register-device'/></iq>",
    ])
    func whatIsNotOfferedIsNotAvailable(text: String) throws {
        let error = try self.answer(text).children.first
        #expect(error?["type"] == "cancel")
        #expect(error?.children.first?.name == "service-unavailable")
    }

    @Test func otherPubsubIsNotImplemented() throws {
        let items = "<pubsub xmlns='http://jabber.org/protocol/pubsub'><items node='a'/></pubsub>"
        for type in ["get", "set"] {
            let answer = try self.answer("<iq type='\(type)' from='a' id='1'>\(items)</iq>")
            #expect(answer.children.first?.children.first?.name == "feature-not-implemented")
        }
    }

    @Test(arguments: [
        "<message from='a' to='push.example.org'><body>x</body></message>", "<presence from='a' type='subscribe'/>",
        "<iq type='result' from='a' id='1'/>", "<iq type='error' from='a' id='1'/>", "<iq type='get' id='1'/>",
        "<iq type='get' from='a'/>", "<iq type='odd' from='a' id='1'/>", "<iq type='get' from='@' id='1'/>", "<other/>",
        " \n ", "<iq type='get' from='a' to='@' id='1'><ping xmlns='urn:xmpp:ping'/></iq>",
        // An answer from outside of the component's domain would end the stream.
        "<iq type='get' from='a' to='other.example.org' id='1'><ping xmlns='urn:xmpp:ping'/></iq>",
    ])
    func whatNeedsNoAnswerHasNone(text: String) {
        var machine = self.open()
        #expect(self.receive(&machine, text) == [])
    }

    @Test func requestsInFlightAreLimited() throws {
        var machine = self.open()
        let request = try Self.request(PushPublish(node: "n-A", secret: "s-A", hasMessageText: true))
        for _ in 0..<ComponentStateMachine.maximumInFlight / 2 {
            #expect(self.receive(&machine, Self.publish) == [.request(request)])
        }
        #expect(try self.isAskedToWait(&machine, Self.publish))
        _ = machine.answered(ComponentResponse(stanza: request.stanza, answer: .result(nil)), now: self.start)
        #expect(self.receive(&machine, Self.publish) == [.request(request)])
    }

    @Test func domainsThatSendWithoutEndLeaveRoomForAnother() throws {
        var machine = self.open()
        let strangers = ["a.example", "b.example", "c.example"].map { Self.publish(from: $0) }
        for stranger in strangers {
            for _ in 0..<ComponentStateMachine.maximumInFlight { _ = self.receive(&machine, stranger) }
            #expect(try self.isAskedToWait(&machine, stranger))
        }
        guard case .request? = self.receive(&machine, Self.publish).first else {
            Issue.record("strangers took the place of the server's own users")
            return
        }
    }

    private func isAskedToWait(_ machine: inout ComponentStateMachine, _ text: String) throws -> Bool {
        guard case .write(let text)? = self.receive(&machine, text).first else { return false }
        let error = try Self.stanza(text).children.first
        return error?["type"] == "wait" && error?.children.first?.name == "resource-constraint"
    }

    // MARK: Time

    @Test func aServerThatDoesNotAcceptIsLeft() {
        var machine = ComponentStateMachine(domain: "push.example.org", secret: "test")
        #expect(machine.deadline == nil)
        _ = machine.connected(now: self.start)
        let end = self.start + ComponentStateMachine.acceptance
        #expect(machine.deadline == end)
        #expect(machine.timePassed(now: end - .nanoseconds(1)) == [])
        #expect(machine.timePassed(now: end) == [.write("</stream:stream>"), .close(.notAccepted)])
        #expect(machine.timePassed(now: end) == [])
    }

    @Test func theConnectionIsKeptAndProbed() throws {
        var machine = self.open()
        let minute = ComponentStateMachine.keepAlive
        #expect(machine.deadline == self.start + minute)
        #expect(machine.timePassed(now: self.start + minute) == [.write(" ")])
        let probedAt = self.start + minute + minute
        guard case .write(let probe)? = machine.timePassed(now: probedAt).first else {
            Issue.record("no probe")
            return
        }
        let stanza = try Self.stanza(probe)
        #expect(stanza["to"] == "push.example.org" && stanza["from"] == "push.example.org")
        #expect(stanza.child("ping", "urn:xmpp:ping") != nil)
        #expect(machine.deadline == probedAt + ComponentStateMachine.probe)
        var silent = machine
        let end = probedAt + ComponentStateMachine.probe
        #expect(silent.timePassed(now: end) == [.close(.silent)])
        // The server has carried the component's own question.
        #expect(machine.received(Array(probe.utf8), now: end).count == 1)
        #expect(machine.timePassed(now: end) == [])
    }

    // MARK: Leaving

    @Test func itLeavesAtOnce() {
        var machine = self.open()
        let ending: [ComponentAction] = [.write("</stream:stream>"), .close(nil)]
        #expect(machine.leave(now: self.start) == ending)
        #expect(machine.leave(now: self.start) == [])
    }

    @Test func itLeavesAfterTheLastAnswer() throws {
        var machine = self.open()
        _ = self.receive(&machine, Self.publish)
        #expect(machine.leave(now: self.start) == [])
        guard case .write(let text)? = self.receive(&machine, Self.publish).first else {
            Issue.record("no answer")
            return
        }
        #expect(try Self.stanza(text).children.first?["type"] == "wait")
        let stanza = RequestStanza(id: "n12", from: "example.com", to: "push.example.org")
        let last = machine.answered(ComponentResponse(stanza: stanza, answer: .result(nil)), now: self.start)
        #expect(last.count == 3 && last.last == .close(nil))
    }

    @Test func itDoesNotWaitForAnswersForever() {
        var machine = self.open()
        _ = self.receive(&machine, Self.publish)
        _ = machine.leave(now: self.start)
        let end = self.start + ComponentStateMachine.leaving
        #expect(machine.deadline == end)
        #expect(machine.timePassed(now: end).last == .close(nil))
    }

    // MARK: Garbage

    @Test func damagedStreamsNeitherCrashNorGoOnAfterTheirEnd() {
        var generator = SeededGenerator(seed: 17)
        let whole = Array((Self.header + "<handshake/>" + Self.publish + Self.publish + "</stream:stream>").utf8)
        for _ in 0..<2000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: .min ... .max, using: &generator)
            }
            var machine = ComponentStateMachine(domain: "push.example.org", secret: "test", dialects: [.p2])
            _ = machine.connected(now: self.start)
            var hasClosed = false
            for start in stride(from: 0, to: bytes.count, by: 100) {
                for action in machine.received(bytes[start..<min(bytes.count, start + 100)], now: self.start) {
                    #expect(!hasClosed)
                    if case .close = action { hasClosed = true }
                }
            }
            #expect(hasClosed == (machine.deadline == nil))
        }
    }
}
