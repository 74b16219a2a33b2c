import Testing

@testable import PushBridges

@Suite struct PushPublishTests {
    private func read(_ text: String) throws -> PushPublish.Reading {
        let pubsub = "<pubsub xmlns='http://jabber.org/protocol/pubsub'>\(text)</pubsub>"
        return PushPublish.read(try ComponentStateMachineTests.stanza(pubsub))
    }

    /// Reads a publish at the node `n` with the secret `s`.
    private func isImportant(_ text: String) throws -> Bool? {
        guard case .publish(let publish) = try self.read(text) else { return nil }
        #expect(publish.node == "n" && publish.secret == "s")
        return publish.isImportant
    }

    private func notification(_ inner: String, node: String = " node='n'", options: String = "") -> String {
        "<publish\(node)><item><notification xmlns='urn:xmpp:push:0'>\(inner)</notification></item>\(options)</publish>"
    }

    private static let options = """
        <publish-options><x xmlns='jabber:x:data' type='submit'><field var='secret'><value>s</value></field></x></publish-options>
        """

    /// Vector X3: without the text of a message it is not important. ejabberd sends no summary then.
    @Test func theTextOfAMessageMakesItImportant() throws {
        func summary(_ fields: String) -> String { "<x xmlns='jabber:x:data' type='form'>\(fields)</x>" }
        let body = "<field var='last-message-body'><value>New message</value></field>"
        let count = "<field var='message-count'><value>1</value></field>"
        for (inner, isImportant) in [
            (summary(count + body), true), (summary(count), false), ("", false),
            (summary("<field var='last-message-body'><value/></field>"), false),
            (summary("<field var='last-message-body'/>"), false),
        ] {
            #expect(try self.isImportant(self.notification(inner) + Self.options) == isImportant, "\(inner)")
        }
    }

    /// With an encrypted summary there is no form.
    @Test(arguments: [("high", true), ("low", false), (nil, true), ("normal", true)] as [(String?, Bool)])
    func anEncryptedSummaryIsImportantUnlessItsPriorityIsLow(priority: String?, isImportant: Bool) throws {
        let element = priority.map { "<priority xmlns='tigase:push:priority:0'>\($0)</priority>" } ?? ""
        let inner = """
            <encrypted xmlns='tigase:push:encrypt:0' type='aes-128-gcm' iv='MDEyMzQ1Njc4OTAx'>c2VjcmV0</encrypted>\
            \(element)
            """
        #expect(try self.isImportant(self.notification(inner) + Self.options) == isImportant)
    }

    @Test(arguments: [("high", true), ("low", false), ("normal", true)])
    func aPriorityDecidesAboutATextToo(priority: String, isImportant: Bool) throws {
        let inner = """
            <x xmlns='jabber:x:data' type='form'><field var='last-message-body'><value>New message</value></field></x>\
            <priority xmlns='tigase:push:priority:0'>\(priority)</priority>
            """
        #expect(try self.isImportant(self.notification(inner) + Self.options) == isImportant)
    }

    @Test func optionsWithinThePublishCountToo() throws {
        let reading = try self.read(self.notification("", options: Self.options))
        #expect(reading == .publish(PushPublish(node: "n", secret: "s")))
    }

    @Test func withoutOptionsThereIsNoSecret() throws {
        let publish = PushPublish(node: "n", secret: "")
        #expect(try self.read(self.notification("")) == .publish(publish))
        #expect(try self.read(self.notification("") + "<publish-options/>") == .publish(publish))
    }

    @Test func aPublishNeedsANode() throws {
        #expect(try self.read(self.notification("", node: "")) == .error(.badRequest))
        #expect(try self.read(self.notification("", node: " node=''")) == .error(.badRequest))
        let long = String(repeating: "n", count: 1025)
        #expect(try self.read(self.notification("", node: " node='\(long)'")) == .error(.badRequest))
    }

    @Test(arguments: [
        "", "<publish node='n'/>", "<publish node='n'><item/></publish>", "<subscribe node='n'/>",
        "<publish node='n'><item><notification/></item></publish>",
    ])
    func otherPublishesAreNotImplemented(text: String) throws {
        #expect(try self.read(text) == .error(.featureNotImplemented))
    }
}
