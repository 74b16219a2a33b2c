import Foundation
import PushSupport
import PushTesting
import Testing

/// Keys of single apps: every operation of the document is tried with the key of another app.
@Suite(.timeLimit(.patience)) struct AppAuthorizationTests {
    private static let other = "com.example.Other"

    /// An operation of the document with a real path.
    private struct Operation: CustomStringConvertible {
        var method: String
        var path: String

        var description: String { "\(self.method) \(self.path)" }
        /// The name of the path parameter that names what belongs to an app; `nil` if none does.
        var subject: String? {
            ["app", "notification", "schedule", "webhook", "apnsId", "publication", "issue", "upload"].first {
                self.path.contains("{\($0)}")
            }
        }

        /// Returns the path with these values; other parameters have a value that fits.
        func path(_ values: [String: String]) -> String {
            self.path.replacing(#/\{(.*?)\}/#) { match in
                values[String(match.1)] ?? (match.1 == "environment" ? "sandbox" : "00")
            }
        }
    }

    /// What two apps have, by the names of path parameters.
    private struct Fixture {
        var own: [String: String]
        var other: [String: String]
        var operations: [Operation]
        /// A client with a key that may do everything for its own app.
        var api: JSONClient
    }

    private func withFixture(_ body: @escaping @Sendable (Fixture) async throws -> Void) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            try await provider.api.post("/v1/apps", ["bundleId": .string(Self.other)])
            let own = try await Self.records(of: Vectors.bundleID, provider.api)
            let other = try await Self.records(of: Self.other, provider.api)
            let key: JSONValue = ["name": "own", "scopes": ["admin"], "apps": [.string(Vectors.bundleID)]]
            var api = provider.api
            api.apiKey = try await provider.api.post("/v1/keys", key).json["key"].stringValue
            let document = try await provider.api.get("/openapi.json").json
            try await body(Fixture(own: own, other: other, operations: Self.operations(document), api: api))
        }
    }

    /// Returns the operations that need a key.
    private static func operations(_ document: JSONValue) -> [Operation] {
        guard case .object(let paths) = document["paths"] else { return [] }
        return paths.flatMap { path, item -> [Operation] in
            guard case .object(let members) = item else { return [] }
            return members.filter { !$0.value["security"].elements.isEmpty }
                .map { Operation(method: $0.key.uppercased(), path: path) }
        }
    }

    /// Adds one record of each kind to an app.
    private static func records(of app: String, _ api: JSONClient) async throws -> [String: String] {
        let path = "/v1/apps/\(app)"
        try await api.put(
            "\(path)/credentials/sandbox",
            [
                "teamId": .string(Vectors.teamID), "keyId": .string(Vectors.keyID),
                "privateKey": .string(Vectors.privateKey),
            ]
        )
        let token = String(repeating: "ab", count: 32)
        let notification: JSONValue = ["to": ["tokens": [.string(token)]], "environment": "sandbox", "alert": "Hi"]
        let sent = try await api.post("\(path)/notifications", notification)
        let rule: JSONValue = ["cron": "0 9 * * *", "timeZone": "Europe/Berlin"]
        let plan: JSONValue = ["to": ["all": true], "alert": "Hi"]
        let scheduled = try await api.post(
            "\(path)/schedules",
            ["name": "daily", "schedule": rule, "notification": plan]
        )
        let published = try await api.post("\(path)/publications", ["name": "The Example"])
        let publication = published.json["id"].stringValue ?? ""
        let issue = try await api.post(
            "/v1/publications/\(publication)/issues",
            ["productId": "com.example.issue", "title": "An issue", "date": "2026-11-20"]
        )
        let hash = JSONValue.string(String(repeating: "a", count: 64))
        let upload = try await api.post("\(path)/uploads", ["size": 10, "sha256": hash])
        let hooked = try await api.post("\(path)/webhooks", ["url": "https://hooks.example.com/push"])
        for response in [sent, scheduled, hooked, published, issue, upload] {
            #expect([201, 202].contains(response.status))
        }
        var deliveries: [JSONValue] = []
        let id = sent.json["id"].stringValue ?? ""
        while deliveries.isEmpty {
            deliveries = try await api.get("/v1/notifications/\(id)/deliveries").json["deliveries"].elements
        }
        return [
            "app": app, "notification": id, "schedule": scheduled.json["id"].stringValue ?? "",
            "webhook": hooked.json["id"].stringValue ?? "", "apnsId": deliveries.first?["apnsId"].stringValue ?? "",
            "publication": publication, "issue": issue.json["id"].stringValue ?? "",
            "upload": upload.json["id"].stringValue ?? "",
        ]
    }

    /// The response is the same whether the other app, or its record, exists.
    @Test func noOperationServesTheKeyOfAnotherApp() async throws {
        try await self.withFixture { fixture in
            #expect(fixture.operations.count > 50)
            let missing = [
                "app": "com.example.Missing", "notification": UUID().uuidString, "schedule": UUID().uuidString,
                "webhook": UUID().uuidString, "apnsId": "6f1c0a2b-9d3e-8abc-8000-00000000002a",
                "publication": UUID().uuidString, "issue": UUID().uuidString, "upload": UUID().uuidString,
            ]
            for operation in fixture.operations {
                guard let subject = operation.subject else { continue }
                let refused = try await fixture.api.call(operation.method, operation.path(fixture.other), nil)
                let unknown = try await fixture.api.call(operation.method, operation.path(missing), nil)
                #expect(refused.status == (subject == "app" ? 403 : 404), "\(operation)")
                #expect(refused.code == unknown.code && refused.body == unknown.body, "\(operation)")
                #expect(refused.status == unknown.status, "\(operation)")
            }
        }
    }

    /// What names no app is for keys of all apps, but for lists that leave the others out.
    @Test func whatIsAboutNoAppNeedsAKeyForAll() async throws {
        try await self.withFixture { fixture in
            let filtered = [
                "GET /v1/apps", "GET /v1/notifications", "GET /v1/overview", "GET /v1/campaigns", "GET /v1/statistics",
                "GET /v1/key",
                "GET /v1/me", "GET /v1/me/sessions",
            ]
            for operation in fixture.operations where operation.subject == nil {
                // Its query names the app.
                guard operation.description != "GET /v1/timeline" else { continue }
                let response = try await fixture.api.call(operation.method, operation.path([:]), nil)
                // What a caller changes of itself is about no app either.
                if operation.path.hasPrefix("/v1/me"), operation.method != "GET" {
                    #expect(response.status != 403, "\(operation)")
                    continue
                }
                guard filtered.contains(operation.description) else {
                    #expect(response.status == 403, "\(operation)")
                    #expect(response.code == "all_apps_needed", "\(operation)")
                    continue
                }
                #expect(response.status == 200, "\(operation)")
                #expect(!String(decoding: response.body, as: UTF8.self).contains(Self.other), "\(operation)")
            }
            let apps = try await fixture.api.get("/v1/apps").json["apps"].elements
            #expect(apps.compactMap { $0["bundleId"].stringValue } == [Vectors.bundleID])
            let notifications = try await fixture.api.get("/v1/notifications").json["notifications"].elements
            #expect(notifications.compactMap { $0["id"].stringValue } == [fixture.own["notification"]])
        }
    }

    /// The app of a timeline follows from its query.
    @Test func aTimelineIsShownToTheKeyOfItsAppOnly() async throws {
        try await self.withFixture { fixture in
            let path = "/v1/timeline"
            for name in ["apnsId", "notification"] {
                let own = try await fixture.api.get("\(path)?\(name)=\(fixture.own[name] ?? "")")
                #expect(own.status == 200, "\(name)")
                #expect(own.json["timelines"].elements.count == 1)
                let other = try await fixture.api.get("\(path)?\(name)=\(fixture.other[name] ?? "")")
                let missing = try await fixture.api.get("\(path)?\(name)=\(UUID().uuidString)")
                #expect(other.status == 404 && other.code == missing.code && other.body == missing.body, "\(name)")
            }
            let token = String(repeating: "ab", count: 32)
            for subject in ["token=\(token)", "user=alice"] {
                let own = try await fixture.api.get("\(path)?\(subject)&app=\(Vectors.bundleID)")
                #expect(own.status == 200, "\(subject)")
                let other = try await fixture.api.get("\(path)?\(subject)&app=\(Self.other)")
                let missing = try await fixture.api.get("\(path)?\(subject)&app=com.example.Missing")
                #expect(other.status == 403 && other.code == "other_app", "\(subject)")
                #expect(missing.status == 403 && missing.body == other.body, "\(subject)")
            }
        }
    }

    @Test func everyOperationServesTheKeyOfItsOwnApp() async throws {
        try await self.withFixture { fixture in
            // Removals come last: what they remove is what the others are about.
            for operation in fixture.operations.sorted(by: { $0.method != "DELETE" && $1.method == "DELETE" }) {
                guard operation.subject != nil, operation.method != "DELETE" else { continue }
                let response = try await fixture.api.call(operation.method, operation.path(fixture.own), nil)
                #expect(![401, 403, 405].contains(response.status), "\(operation)")
                let subjects = [
                    "no_such_notification", "no_such_schedule", "no_such_webhook", "no_such_app", "no_such_publication",
                ]
                #expect(response.code.map(subjects.contains) != true, "\(operation)")
            }
        }
    }

    @Test func aKeyOfSeveralAppsListsThemAll() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            var sent: [String] = []
            let names = (0..<4).map { "com.example.App\($0)" }
            for name in names {
                try await provider.api.post("/v1/apps", ["bundleId": .string(name)])
                sent.append(try await Self.records(of: name, provider.api)["notification"] ?? "")
            }
            let key: JSONValue = ["name": "two", "scopes": ["read"], "apps": [.string(names[1]), .string(names[3])]]
            var api = provider.api
            api.apiKey = try await provider.api.post("/v1/keys", key).json["key"].stringValue
            let first = try await api.get("/v1/notifications?limit=1").json
            #expect(first["notifications"].elements.compactMap { $0["id"].stringValue } == [sent[3]])
            let next = first["next"].stringValue ?? ""
            let second = try await api.get("/v1/notifications?limit=5&cursor=\(next)").json
            #expect(second["notifications"].elements.compactMap { $0["id"].stringValue } == [sent[1]])
        }
    }
}
