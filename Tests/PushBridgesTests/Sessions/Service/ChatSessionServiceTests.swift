import ProviderModel
import PushBridges
import PushSupport
import PushTesting
import PushTypes
import Testing

@Suite(.timeLimit(.patience)) struct ChatSessionServiceTests {
    /// One connection at a time, for which all others wait.
    private static let onePlace = BudgetLimits(.init(whole: .held(1)), waiting: .init(), patience: .patience)

    @Test func aMessageAtAnIRCServerBecomesAPush() async throws {
        let server = try await StubChatServer.start { _ in .irc }
        try await withChatSessions { sessions in
            let added = try await sessions.add(port: server.port, ["settings": ["showText": true]])
            #expect(added.status == 201)
            let id = added.json["id"].stringValue ?? ""
            _ = try await sessions.wait(id, until: "signedIn")
            server.send(":bob!b@h PRIVMSG ada :tea?\r\n")
            let payload = try await sessions.pushes(1).first
            #expect(payload?["aps"]["alert"] == ["title": "bob", "body": "tea?"])
            #expect(payload?["session"]["id"].stringValue == id)
            let list = try await sessions.provider.api.get("/v1/apps/\(Vectors.bundleID)/notifications").json
            #expect(list["notifications"].elements.count == 1)
        }
        // The end of the provider is a goodbye, which the server reads in its own time.
        try await eventually { server.received.hasSuffix("QUIT :\r\n") }
        try await server.stop()
    }

    @Test func aMessageAtAnXMPPServerBecomesAPush() async throws {
        let server = try await StubChatServer.start(isSecure: false) { _ in .xmpp }
        try await withChatSessions { sessions in
            let added = try await sessions.add("xmpp", port: server.port)
            _ = try await sessions.wait(added.json["id"].stringValue ?? "", until: "signedIn")
            server.send("<message from='bob@example.org/x' type='chat'><body>tea?</body></message>")
            let payload = try await sessions.pushes(1).first
            #expect(payload?["session"]["sender"].stringValue == "bob@example.org")
            // Without the user's wish the text stays here.
            #expect(payload?["aps"]["alert"] == ["title": "xmpp:127.0.0.1", "body": "bob@example.org"])
        }
        try await eventually { server.received.hasSuffix("</stream:stream>") }
        try await server.stop()
    }

    @Test func aLostConnectionIsOpenedAgain() async throws {
        let server = try await StubChatServer.start { _ in .irc }
        try await withChatSessions { sessions in
            let id = try await sessions.add(port: server.port).json["id"].stringValue ?? ""
            _ = try await sessions.wait(id, until: "signedIn")
            server.disconnect()
            try await eventually { server.connections >= 2 }
            _ = try await sessions.wait(id, until: "signedIn")
            server.send("@msgid=1 :bob!b@h PRIVMSG ada :tea?\r\n")
            _ = try await sessions.pushes(1)
            // A bouncer sends it again.
            server.send("@msgid=1 :bob!b@h PRIVMSG ada :tea?\r\n@msgid=2 :eve!b@h PRIVMSG ada :tea?\r\n")
            let senders = try await sessions.pushes(2).map { $0["session"]["sender"].stringValue }
            #expect(senders == ["bob", "eve"])
        }
        try await server.stop()
    }

    @Test func aRefusedPasswordEndsTheSessionUntilItIsResumed() async throws {
        let server = try await StubChatServer.start { $0 == 1 ? .refusingIRC : .irc }
        try await withChatSessions { sessions in
            let api = sessions.provider.api
            let added = try await sessions.add(port: server.port, ["password": "coffee"])
            let id = added.json["id"].stringValue ?? ""
            let failed = try await sessions.wait(id, until: "failed")
            #expect(failed["lastError"].stringValue?.contains("refused account or password") == true)
            #expect(server.connections == 1)
            let resumed = try await api.post("\(RunningSessions.path)/\(id):resume", ["password": "tea"])
            #expect(resumed.status == 200 && resumed.json["lastError"].stringValue == nil)
            let signedIn = try await sessions.wait(id, until: "signedIn")
            #expect(signedIn["lastError"].stringValue == nil)
        }
        try await server.stop()
    }

    @Test func aSessionThatIsStoppedOrDeletedSignsOut() async throws {
        let server = try await StubChatServer.start { _ in .irc }
        try await withChatSessions { sessions in
            let api = sessions.provider.api
            let id = try await sessions.add(port: server.port).json["id"].stringValue ?? ""
            _ = try await sessions.wait(id, until: "signedIn")
            try await api.post("\(RunningSessions.path)/\(id):stop", [:])
            _ = try await sessions.wait(id, until: "stopped")
            try await eventually { server.received.contains("QUIT") }
            try await api.post("\(RunningSessions.path)/\(id):resume", [:])
            _ = try await sessions.wait(id, until: "signedIn")
            #expect(try await api.delete("\(RunningSessions.path)/\(id)").status == 204)
            #expect(try await api.get("\(RunningSessions.path)/\(id)").status == 404)
            try await eventually { server.received.ranges(of: "QUIT").count >= 2 }
        }
        try await server.stop()
    }

    /// What waits to be pushed is forgotten, and the session does not wait for the next look at the store.
    @Test func theSessionsOfAnErasedUserEndAtOnce() async throws {
        let server = try await StubChatServer.start { _ in .irc }
        let metrics = try await withChatSessions(coalescing: .seconds(86_400)) { sessions in
            let api = sessions.provider.api
            let id = try await sessions.add(port: server.port).json["id"].stringValue ?? ""
            _ = try await sessions.wait(id, until: "signedIn")
            server.send(":bob!b@h PRIVMSG ada :tea?\r\n")
            _ = try await sessions.pushes(1)
            // The second message of a conversation waits. It has been read once the question after it is answered.
            server.send(":bob!b@h PRIVMSG ada :now?\r\nPING :after\r\n")
            try await eventually { server.received.contains("PONG") }
            let erasure = try await api.delete("/v1/apps/\(Vectors.bundleID)/users/ada")
            #expect((200..<300).contains(erasure.status))
            try await eventually { server.received.contains("QUIT") }
        }
        try await server.stop()
        let pushes = metrics.split(separator: "\n").filter { $0.hasPrefix("martlet_chat_pushes_total{") }
        #expect(pushes.filter { !$0.hasSuffix(" 0") } == [#"martlet_chat_pushes_total{result="accepted"} 1"#])
    }

    @Test func aCertificateOfAnotherNameIsNotTrusted() async throws {
        let server = try await StubChatServer.start(host: "0.0.0.0") { _ in .irc }
        try await withChatSessions { sessions in
            // The address leads here, and is not in the certificate.
            let added = try await sessions.add(port: server.port, ["server": "127.0.0.2"])
            let id = added.json["id"].stringValue ?? ""
            while true {
                let session = try await sessions.provider.api.get("\(RunningSessions.path)/\(id)").json
                if let error = session["lastError"].stringValue {
                    #expect(error.hasPrefix("the connection failed"))
                    break
                }
                try Task.checkCancellation()
            }
            #expect(!server.received.contains("CAP"))
        }
        try await server.stop()
    }

    /// Before, the sessions of all apps had as many connections as they liked, and no file was left for anybody else.
    @Test func aSessionBeyondTheConnectionsWaitsForOne() async throws {
        let server = try await StubChatServer.start { _ in .irc }
        try await withChatSessions(limits: [.chatConnections: Self.onePlace]) { sessions in
            let (api, connections) = (sessions.provider.api, sessions.budgets[.chatConnections])
            let first = try await sessions.add(port: server.port).json["id"].stringValue ?? ""
            _ = try await sessions.wait(first, until: "signedIn")
            let second = try await sessions.add(port: server.port).json["id"].stringValue ?? ""
            try await eventually { connections.usage.waiting > 0 }
            #expect(connections.usage == (1, 1) && server.connections == 1)
            #expect(try await sessions.wait(second, until: "waiting")["lastError"].stringValue == nil)
            try await api.post("\(RunningSessions.path)/\(first):stop", [:])
            try await eventually { server.connections >= 2 }
            #expect(connections.usage == (1, 0))
            // The end of a connection gives its place back, also where the session goes on.
            try await api.post("\(RunningSessions.path)/\(first):resume", [:])
            try await eventually { connections.usage.waiting > 0 }
            server.disconnect()
            _ = try await sessions.wait(first, until: "signedIn")
        }
        try await server.stop()
    }

    @Test func aConnectionThatFailsGivesItsPlaceBack() async throws {
        let port = try RefusingPort()
        let server = try await StubChatServer.start { _ in .irc }
        try await withChatSessions(limits: [.chatConnections: Self.onePlace]) { sessions in
            let connections = sessions.budgets[.chatConnections]
            let taken = try connections.take(for: BudgetCaller())
            let failing = try await sessions.add(port: port.number).json["id"].stringValue ?? ""
            // Without a place it does not try.
            try await eventually { connections.usage.waiting > 0 }
            let path = "\(RunningSessions.path)/\(failing)"
            #expect(try await sessions.provider.api.get(path).json["lastError"].stringValue == nil)
            taken.end()
            while try await sessions.provider.api.get(path).json["lastError"].stringValue == nil {
                try Task.checkCancellation()
            }
            // It goes on trying, and another one finds the place meanwhile.
            let other = try await sessions.add(port: server.port).json["id"].stringValue ?? ""
            _ = try await sessions.wait(other, until: "signedIn")
            try await eventually { connections.usage == (1, 1) }
        }
        try await server.stop()
    }
}
