import Foundation
import PushTesting
import Testing

@testable import MartletKit

@Suite("Addresses for the servers of chat accounts", .timeLimit(.patience)) struct XMPPPushTests {
    private static let address = XMPPPushAddress(jid: "push.example.org", node: "n-A", secret: "s-A")

    private func registeredApp() async throws -> TestApp {
        let app = try TestApp()
        try await app.martlet.register(token: TestApp.token)
        await app.martlet.synchronize()
        return app
    }

    @Test("An address is made for a registered installation") func made() async throws {
        let app = try await self.registeredApp()
        app.transport.answer { _ in
            .json(201, .object(["jid": "push.example.org", "node": "n-A", "secret": "s-A", "domain": "example.com"]))
        }
        let address = try await app.martlet.xmppPushAddress(domain: "example.com", account: "work")
        #expect(address == Self.address)
        let request = try #require(app.transport.requests.last)
        let status = try #require(await app.martlet.status())
        #expect(request.method == "POST" && request.headers["installation-secret"] == "s1")
        #expect(request.headers["authorization"] == "Bearer mk_public_x")
        let path = "/v1/apps/com.example.App/installations/\(status.installation.uuidString)/xmpp-nodes"
        #expect(request.url.path() == path)
        #expect(app.transport.bodies("POST").last == ["domain": "example.com", "account": "work"])
    }

    @Test("Without a registration there is none") func notRegistered() async throws {
        let app = try TestApp()
        await #expect(throws: InstallationError.notRegistered) {
            try await app.martlet.xmppPushAddress(domain: "example.com")
        }
        #expect(app.transport.requests.isEmpty)
    }

    @Test("The provider's refusal and its absence are told apart") func failures() async throws {
        let app = try await self.registeredApp()
        app.transport.answer { _ in .error(409, "no_component") }
        await #expect(throws: InstallationError.refused(code: "no_component", message: "no")) {
            try await app.martlet.xmppPushAddress(domain: "example.com")
        }
        app.transport.answer { _ in .json(503, .object([:]), headers: ["retry-after": "7"]) }
        await #expect(throws: InstallationError.unavailable(reason: "status 503", retryAfter: .seconds(7))) {
            try await app.martlet.xmppPushAddress(domain: "example.com")
        }
        app.transport.answer { _ in .json(201, .object(["jid": "push.example.org"])) }
        await #expect(throws: InstallationError.self) { try await app.martlet.xmppPushAddress(domain: "example.com") }
    }

    @Test("Marks of XML are escaped before combining characters too") func combining() {
        let address = XMPPPushAddress(jid: "a'\u{301}", node: "<\u{301}", secret: "&\u{301}")
        let stanza = address.enableStanza(id: ">\u{301}")
        for part in ["jid='a&apos;\u{301}'", "node='&lt;\u{301}'", "<value>&amp;\u{301}</value>", "id='&gt;\u{301}'"] {
            #expect(stanza.unicodeScalars.firstRange(of: part.unicodeScalars) != nil, "\(part)")
        }
    }

    @Test("An address is removed, once or twice") func removed() async throws {
        let app = try await self.registeredApp()
        try await app.martlet.removeXMPPPushAddress(Self.address)
        let request = try #require(app.transport.requests.last)
        #expect(request.method == "DELETE" && request.url.path().hasSuffix("/xmpp-nodes/n-A"))
        app.transport.answer { _ in .error(404, "no_such_node") }
        try await app.martlet.removeXMPPPushAddress(Self.address)
        app.transport.answer { _ in .error(403, "not_own_installation") }
        await #expect(throws: InstallationError.self) { try await app.martlet.removeXMPPPushAddress(Self.address) }
    }

    @Test("The stanzas are those of XEP-0357") func stanzas() {
        let enable = """
            <iq type='set' id='push-1'><enable xmlns='urn:xmpp:push:0' jid='push.example.org' node='n-A'>\
            <x xmlns='jabber:x:data' type='submit'><field var='FORM_TYPE'>\
            <value>http://jabber.org/protocol/pubsub#publish-options</value></field>\
            <field var='secret'><value>s-A</value></field></x></enable></iq>
            """
        #expect(Self.address.enableStanza(id: "push-1") == enable)
        let disable = """
            <iq type='set' id='a&apos;&lt;'><disable xmlns='urn:xmpp:push:0' jid='push.example.org' node='n-A'/></iq>
            """
        #expect(Self.address.disableStanza(id: "a'<") == disable)
    }
}
