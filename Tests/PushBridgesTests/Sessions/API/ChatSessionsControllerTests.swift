import Crypto
import Foundation
import PushBridges
import PushSupport
import PushTesting
import PushTypes
import Testing

@Suite(.timeLimit(.patience)) struct ChatSessionsControllerTests {
    private static let own = "/v1/apps/\(Vectors.bundleID)/installations/installation-1/sessions"

    /// Returns a proof of a user, and a client with a public key.
    private func publicClient(_ sessions: RunningSessions, user: String) async throws -> ([String: String], JSONClient)
    {
        let api = sessions.provider.api
        let secret =
            try await api.post("/v1/apps/\(Vectors.bundleID)/user-secrets", [:]).json["secret"].stringValue ?? ""
        let body: JSONValue = ["name": "app", "scopes": ["registerSelf"], "apps": [.string(Vectors.bundleID)]]
        let key = try await api.post("/v1/keys", body).json["key"].stringValue ?? ""
        let end = Int64(Date.now.timeIntervalSince1970) + 600
        let header = Base64URL.encode(Data(#"{"alg":"HS256"}"#.utf8))
        let claims = Base64URL.encode(Data(#"{"sub":"\#(user)","exp":\#(end)}"#.utf8))
        let signed = "\(header).\(claims)"
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: SymmetricKey(data: Data(secret.utf8)))
        return (
            ["user-proof": "\(signed).\(Base64URL.encode(code))"],
            JSONClient(baseURL: api.baseURL, apiKey: key)
        )
    }

    @Test func aSessionIsAddedListedAndNeverShowsItsPassword() async throws {
        try await withChatSessions { sessions in
            let api = sessions.provider.api
            for _ in 0..<3 { #expect(try await sessions.add(port: 1024).status == 201) }
            #expect(try await sessions.add(port: 1024, ["user": "bob"]).status == 201)
            let all = try await api.get(RunningSessions.path)
            #expect(all.json["sessions"].elements.count == 4)
            #expect(!String(decoding: all.body, as: UTF8.self).contains("tea"))
            let page = try await api.get("\(RunningSessions.path)?user=ada&limit=2")
            #expect(page.json["sessions"].elements.count == 2)
            let next = page.json["next"].stringValue ?? ""
            let rest = try await api.get("\(RunningSessions.path)?user=ada&limit=2&cursor=\(next)")
            #expect(rest.json["sessions"].elements.count == 1 && rest.json["next"] == .null)
        }
    }

    @Test(
        arguments: [
            (["protocol": "icq"], "protocol"), (["account": ""], "account"), (["port": 25], nil),
            (["port": 70_000], "port"),
            (["settings": ["nick": "a b"]], "settings.nick"), (["settings": ["showText": 1]], "settings.showText"),
            (["settings": ["x": 1]], "settings.x"), (["password": "a\r\nb"], "password"), (["server": "a b"], "server"),
            (["protocol": "xmpp"], "account"), (["more": 1], "more"),
        ] as [([String: JSONValue], String?)]
    )
    func whatCannotWorkIsRefused(more: [String: JSONValue], field: String?) async throws {
        try await withChatSessions { sessions in
            let response = try await sessions.add(port: 6697, more)
            #expect(response.status == (field == nil ? 201 : 400))
            #expect(response.field == field)
        }
    }

    @Test func aUserHasTenSessions() async throws {
        try await withChatSessions { sessions in
            for _ in 0..<10 { #expect(try await sessions.add(port: 1024).status == 201) }
            let response = try await sessions.add(port: 1024)
            #expect(response.status == 409 && response.code == "too_many_sessions")
        }
    }

    @Test func aUserSeesAndChangesHerOwnOnly() async throws {
        try await withChatSessions { sessions in
            let (proof, client) = try await self.publicClient(sessions, user: "ada")
            let other = try await sessions.add(port: 1024, ["user": "bob"]).json["id"].stringValue ?? ""
            let body: JSONValue = ["protocol": "xmpp", "account": "ada@chat.example.org", "password": "tea"]
            let added = try await client.post(Self.own, body, headers: proof)
            #expect(added.status == 201 && added.json["user"] == "ada")
            #expect(added.json["server"] == "chat.example.org" && added.json["port"] == 5222)
            let id = added.json["id"].stringValue ?? ""
            let list = try await client.call("GET", Self.own, nil, headers: proof)
            #expect(list.json["sessions"].elements.map { $0["id"].stringValue } == [id])
            for method in ["GET", "DELETE"] {
                #expect(try await client.call(method, "\(Self.own)/\(other)", nil, headers: proof).status == 404)
            }
            #expect(try await client.call("POST", "\(Self.own)/\(other):stop", nil, headers: proof).status == 404)
            let stopped = try await client.call("POST", "\(Self.own)/\(id):stop", nil, headers: proof)
            #expect(stopped.json["status"] == "stopped")
            #expect(try await client.call("DELETE", "\(Self.own)/\(id)", nil, headers: proof).status == 204)
        }
    }

    @Test func withoutProofNobodyIsAUser() async throws {
        try await withChatSessions { sessions in
            let (proof, client) = try await self.publicClient(sessions, user: "ada")
            #expect(try await client.get(Self.own).code == "invalid_user_proof")
            let forged = ["user-proof": "\(proof["user-proof"] ?? "")x"]
            #expect(try await client.call("GET", Self.own, nil, headers: forged).code == "invalid_user_proof")
            // A body names no other user, and the paths for back ends need another key.
            let body: JSONValue = ["protocol": "xmpp", "account": "a@b.org", "password": "tea", "user": "bob"]
            #expect(try await client.post(Self.own, body, headers: proof).field == "user")
            #expect(try await client.get(RunningSessions.path).status == 403)
        }
    }

    @Test func sessionsGoWithTheirUser() async throws {
        try await withChatSessions { sessions in
            let api = sessions.provider.api
            _ = try await sessions.add(port: 1024)
            _ = try await sessions.add(port: 1024, ["user": "bob"])
            let erasure = try await api.delete("/v1/apps/\(Vectors.bundleID)/users/ada")
            #expect((200..<300).contains(erasure.status))
            while true {
                let users = try await api.get(RunningSessions.path).json["sessions"].elements.map {
                    $0["user"].stringValue
                }
                if users == ["bob"] { break }
                try Task.checkCancellation()
            }
        }
    }
}
