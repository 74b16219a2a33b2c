import Foundation
import HTTPTypes
import ProviderAPI
import ProviderModel
import PushProvider
import PushSupport
import PushTesting
import Testing

/// `/v1/me` for people and for API keys.
@Suite(.timeLimit(.patience)) struct AccountControllerTests {
    @Test func aCallerLearnsItsOwnRights() async throws {
        try await withPeople { server in
            try await RunningProvider(api: server.api).addVectorsApp()
            let (id, grant) = try await server.add("anna", .author, apps: [Vectors.bundleID])
            let me = try await server.call(.get, "/v1/me", as: grant)
            #expect(me.status == 200)
            #expect(me.json["id"].stringValue == id && me.json["name"] == "anna" && me.json["isPerson"] == true)
            #expect(me.json["role"] == "author" && me.json["scopes"] == .array(["read", "send"]))
            #expect(me.json["apps"] == .array([.string(Vectors.bundleID)]))
            let key = try await server.api.get("/v1/me").json
            #expect(key["isPerson"] == false && key["role"] == .null && key["scopes"] == .array(["admin"]))
            let ofKey = try await server.call(.get, "/v1/key", as: grant)
            #expect(ofKey.status == 409 && ofKey.json["error"]["code"] == "no_key")
        }
    }

    @Test func aPersonChoosesALanguage() async throws {
        try await withPeople { server in
            let (_, grant) = try await server.add("anna", .viewer)
            let changed = try await server.call(.patch, "/v1/me", ["language": "de"], as: grant)
            #expect(changed.json["language"] == "de")
            #expect(try await server.server.signIns.session(token: grant.token)?.language == "de")
            #expect(try await server.call(.patch, "/v1/me", ["language": "x y"], as: grant).status == 400)
            let byKey = try await server.patch("/v1/me", ["language": "de"])
            #expect(byKey.status == 409 && byKey.code == "not_a_person")
        }
    }

    @Test func aNewPasswordEndsAllSessions() async throws {
        try await withPeople { server in
            let (_, grant) = try await server.add("anna", .viewer)
            let path = "/v1/me/password"
            let new = "another good password"
            for (body, status, code) in [
                (["current": "wrong wrong wrong", "password": .string(new)], 403, "wrong_password"),
                (["current": .string(PeopleServer.password), "password": "short"], 400, "password_too_short"),
                (["password": .string(new)], 400, "missing_field"), ([:], 400, "missing_field"),
                (["current": 7, "password": 8], 400, "wrong_type"),
            ] as [(JSONValue, Int, String)] {
                let response = try await server.call(.put, path, body, as: grant)
                #expect(response.status == status && response.json["error"]["code"] == .string(code), "\(body)")
            }
            let body: JSONValue = ["current": .string(PeopleServer.password), "password": .string(new)]
            #expect(try await server.call(.put, path, body, as: grant).status == 204)
            #expect(try await server.call(.get, "/v1/me", as: grant).status == 401)
            let byKey = try await server.api.put(path, body)
            #expect(byKey.status == 409 && byKey.code == "not_a_person")
        }
    }

    @Test func sessionsAreListedAndEndedByTheirHolder() async throws {
        try await withPeople { server in
            let (_, anna) = try await server.add("anna", .viewer)
            let (_, bert) = try await server.add("bert", .viewer)
            let listed = try await server.call(.get, "/v1/me/sessions", as: anna).json["sessions"].elements
            #expect(listed.count == 1 && listed.first?["current"] == true)
            #expect(listed.first?["id"].stringValue == anna.session.id.uuidString)
            let foreign = "/v1/me/sessions/\(bert.session.id)"
            #expect(try await server.call(.delete, foreign, as: anna).status == 404)
            #expect(try await server.call(.delete, "/v1/me/sessions/x", as: anna).status == 404)
            #expect(try await server.call(.delete, "/v1/me/sessions/\(anna.session.id)", as: anna).status == 204)
            #expect(try await server.call(.get, "/v1/me", as: anna).status == 401)
            #expect(try await server.call(.delete, "/v1/me/sessions", as: bert).status == 204)
            #expect(try await server.call(.get, "/v1/me", as: bert).status == 401)
            #expect(try await server.api.get("/v1/me/sessions").json["sessions"].elements.isEmpty)
        }
    }
}
