import Foundation
import HTTPTypes
import ProviderModel
import PushProvider
import PushSupport
import PushTesting
import Testing

/// The rights of people: every operation of the document is tried with every role.
@Suite(.timeLimit(.patience)) struct RoleTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"

    /// The operations that a role may call, by the scope that they need.
    private static let requests: [(scope: APIScope, method: HTTPRequest.Method, path: String)] = [
        (.read, .get, "/v1/apps"), (.read, .get, "\(Self.app)/credentials"), (.read, .get, "/metrics"),
        (.send, .post, "\(Self.app)/notifications"), (.send, .post, "\(Self.app)/schedules"),
        (.register, .post, "\(Self.app)/devices"), (.operate, .put, "\(Self.app)/credentials/sandbox"),
        (.operate, .get, "\(Self.app)/webhooks"), (.operate, .post, "\(Self.app)/devices:reactivate"),
        (.admin, .post, "/v1/apps"), (.admin, .patch, Self.app), (.admin, .delete, Self.app),
        (.admin, .get, "/v1/keys"),
        (.admin, .post, "/v1/keys"), (.admin, .get, "/v1/audit"), (.admin, .get, "/v1/people"),
        (.admin, .post, "/v1/people"), (.admin, .post, "\(Self.app)/user-secrets"),
    ]

    @Test func nobodyDoesMoreThanTheRole() async throws {
        try await withPeople { server in
            try await RunningProvider(api: server.api).addVectorsApp()
            for role in PersonRole.allCases.filter({ $0 != .admin }) {
                let (id, grant) = try await server.add("\(role)", role)
                for request in Self.requests {
                    let (status, json) = try await server.call(request.method, request.path, [:], as: grant)
                    let isAllowed = role.scopes.contains(request.scope)
                    #expect((status == 403) == !isAllowed, "\(role) \(request)")
                    if !isAllowed { #expect(json["error"]["code"] == "missing_scope", "\(role) \(request)") }
                }
                // Nobody raises the own role.
                for path in ["/v1/people/\(id)", "/v1/people/\(id):invite"] {
                    let method: HTTPRequest.Method = path.hasSuffix("e") ? .post : .patch
                    #expect(try await server.call(method, path, ["role": "admin"], as: grant).status == 403)
                }
                let (status, _) = try await server.call(.patch, "/v1/me", ["role": "admin"], as: grant)
                #expect(status == 400)
                #expect(try await server.call(.get, "/v1/me", as: grant).json["role"] == .string(role.rawValue))
            }
        }
    }

    @Test func aPersonOfSingleAppsActsOnTheseOnly() async throws {
        try await withPeople { server in
            try await RunningProvider(api: server.api).addVectorsApp()
            let other = "/v1/apps/com.example.Other"
            try await server.api.post("/v1/apps", ["bundleId": "com.example.Other"])
            for role in [PersonRole.operator, .admin] {
                let (id, grant) = try await server.add("\(role)", role, apps: [Vectors.bundleID])
                #expect(try await server.call(.get, "\(Self.app)/webhooks", as: grant).status == 200)
                for (method, path) in [
                    (.get, other), (.get, "\(other)/webhooks"), (.put, "\(other)/credentials/sandbox"),
                    (.post, "\(other)/notifications"), (.get, "/v1/apps/com.example.Missing"),
                ] as [(HTTPRequest.Method, String)] {
                    let (status, json) = try await server.call(method, path, [:], as: grant)
                    #expect(status == 403 && json["error"]["code"] == "other_app", "\(role) \(path)")
                }
                for (method, path) in [
                    (.get, "/v1/people"), (.post, "/v1/people"), (.patch, "/v1/people/\(id)"), (.post, "/v1/keys"),
                    (.get, "/v1/audit"), (.post, "/v1/apps"),
                ] as [(HTTPRequest.Method, String)] {
                    #expect(try await server.call(method, path, [:], as: grant).status == 403, "\(role) \(path)")
                }
                let apps = try await server.call(.get, "/v1/apps", as: grant).json["apps"].elements
                #expect(apps.compactMap { $0["bundleId"].stringValue } == [Vectors.bundleID])
            }
        }
    }

    /// What a person does has the person's name, as what a key does has the key's.
    @Test func theAuditAndNotificationsNameThePerson() async throws {
        try await withPeople { server in
            try await RunningProvider(api: server.api).addVectorsApp()
            let (id, grant) = try await server.add("anna", .admin)
            let body: JSONValue = ["to": ["all": true], "alert": "Hi"]
            let sent = try await server.call(.post, "\(Self.app)/notifications", body, as: grant)
            #expect(sent.status == 202)
            let notification = try await server.api.get("/v1/notifications/\(sent.json["id"].stringValue ?? "")").json
            #expect(notification["key"]["id"].stringValue == id && notification["key"]["name"] == "anna")
            _ = try await server.call(.post, "/v1/apps", ["bundleId": "com.example.New"], as: grant)
            let entries = try await server.api.get("/v1/audit").json["entries"].elements
            let entry = try #require(entries.first { $0["action"] == "POST /v1/apps" && $0["isPerson"] == true })
            #expect(entry["key"].stringValue == id && entry["keyName"] == "anna")
            #expect(entries.contains { $0["action"] == "redeem a link" && $0["isPerson"] == true })
            #expect(entries.contains { $0["action"] == "POST /v1/people" && $0["isPerson"] == false })
        }
    }

    /// Only the process itself can name the caller of a request.
    @Test func noFieldOfARequestMakesItThatOfAPerson() async throws {
        try await withPeople { server in
            let (id, grant) = try await server.add("anna", .admin)
            var api = server.api
            api.apiKey = nil
            let headers = [
                ["authorization": "Bearer \(grant.token)"], ["cookie": "session=\(grant.token)"],
                ["authorization": "Bearer \(id)"], ["x-caller": id],
                ["authorization": "Bearer \(grant.session.csrfToken)"],
            ]
            for fields in headers {
                #expect(try await api.call("GET", "/v1/me", nil, headers: fields).status == 401, "\(fields)")
            }
        }
    }
}
