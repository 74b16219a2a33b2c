import Foundation
import NIOHTTP1
import PushProvider
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import ProviderAPI

/// Browsers as devices, from the registration to what they get.
@Suite(.timeLimit(.patience)) struct WebPushAPITests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"

    /// An app that has a VAPID key and no credential, and a push service.
    private func withBrowsers(
        addresses: AddressPolicy = AddressPolicy(allowsPrivate: true),
        hasKey: Bool = true,
        _ body: @escaping @Sendable (RunningProvider, BrowserPushService) async throws -> Void
    ) async throws {
        try await BrowserPushService.run { service in
            try await withProvider(
                senders: ScriptedSender(),
                configure: { $0.webhookAddresses = addresses }
            ) { provider in
                try await provider.addVectorsApp(in: [])
                if hasKey { try await provider.api.put("\(Self.app)/vapid", ["contact": "mailto:ops@example.org"]) }
                try await body(provider, service)
            }
        }
    }

    private static func register(
        _ provider: RunningProvider,
        _ browser: Browser,
        _ more: [String: JSONValue] = [:]
    ) async throws -> JSONClient.Response {
        let body: [String: JSONValue] = ["kind": "web", "subscription": browser.subscription]
        return try await provider.api.post("\(Self.app)/devices", .object(body.merging(more) { $1 }))
    }

    @Test func aBrowserIsADevice() async throws {
        try await self.withBrowsers { provider, service in
            let browser = Browser(at: service.url("/push/1"))
            let added = try await Self.register(provider, browser, ["user": "alice", "tags": ["beta"], "locale": "de"])
            #expect(added.status == 201)
            #expect(added.json["kind"] == "web" && added.json["environment"] == "production")
            #expect(added.json["token"].stringValue?.utf8.count == 64)
            #expect(!String(decoding: added.body, as: UTF8.self).contains("/push/1"), "its URL is a secret")
            #expect(try await Self.register(provider, browser).status == 200)
            let sent = try await provider.send([
                "to": ["user": "alice"], "web": ["title": "Hello", "body": "World", "data": ["n": 1]],
                "collapseId": "inbox", "expiresIn": "1h", "priority": 5,
            ])
            #expect(sent.status == 202)
            let counters = try await provider.finished(sent)["counters"]
            #expect(counters["accepted"] == 1)
            let post = try #require(service.posts.first)
            #expect(browser.read(post.body) == ["title": "Hello", "body": "World", "data": ["n": 1]])
            #expect(post.headers["urgency"] == ["normal"])
            #expect(post.headers["topic"].first?.utf8.count == 32)
            let ttl = try #require(post.headers["ttl"].first.flatMap { Int($0) })
            #expect((1...3600).contains(ttl))
            let credential = try #require(VAPIDCredential(authorization: post.headers["authorization"].first))
            let shown = try await provider.api.get("\(Self.app)/vapid")
            #expect(Base64URL.encode(credential.publicKey) == shown.json["publicKey"].stringValue)
        }
    }

    @Test func theAnswersAreOutcomes() async throws {
        try await self.withBrowsers { provider, service in
            for name in ["good", "gone", "missing", "mismatch", "large"] {
                let browser = Browser(at: service.url("/\(name)"))
                _ = try await Self.register(provider, browser, ["user": .string(name)])
            }
            service.script("/gone", .init(410))
            service.script("/missing", .init(404))
            service.script("/mismatch", .init(403, body: #"{"reason":"VapidPkHashMismatch"}"#))
            service.script("/large", .init(413))
            let sent = try await provider.send(["to": ["all": true], "web": ["title": "Hi"]])
            let counters = try await provider.finished(sent)["counters"]
            #expect(counters["accepted"] == 1 && counters["rejected"] == 4)
            let reasons = try await provider.deliveries(sent).compactMap { $0["reason"].stringValue }.sorted()
            #expect(reasons == ["403 VapidPkHashMismatch", "HTTP status 413", "Unregistered", "Unregistered"])
            let devices = try await provider.api.get("\(Self.app)/devices").json["devices"].elements
            let inactive = devices.filter { $0["state"] == "inactive" }.compactMap { $0["user"].stringValue }
            #expect(inactive.sorted() == ["gone", "missing"])
            // Those that are gone are not sent to again.
            let next = try await provider.send(["to": ["all": true], "web": ["title": "Hi"]])
            #expect(try await provider.finished(next)["recipients"] == 3)
        }
    }

    @Test func aBusyPushServiceIsTriedAgain() async throws {
        try await self.withBrowsers { provider, service in
            let browser = Browser(at: service.url("/busy"))
            _ = try await Self.register(provider, browser)
            service.script("/busy", .init(500), .init(503))
            let sent = try await provider.send(["to": ["all": true], "web": ["title": "Hi"]])
            #expect(try await provider.finished(sent)["counters"]["accepted"] == 1)
            #expect(service.posts.count == 3)
        }
    }

    @Test func localizationsAndVariablesAreFilledIn() async throws {
        try await self.withBrowsers { provider, service in
            let (german, other) = (Browser(at: service.url("/de")), Browser(at: service.url("/en")))
            _ = try await Self.register(provider, german, ["locale": "de-AT", "attributes": ["name": "Ada"]])
            _ = try await Self.register(provider, other, ["attributes": ["name": "Bob"]])
            let sent = try await provider.send([
                "to": ["all": true], "template": true,
                "web": ["title": "Hello {{name}}", "icon": "/icon.png", "body": "x"],
                "localizations": ["de": ["web": ["title": "Hallo {{name}}", "body": .null]]],
            ])
            #expect(sent.status == 202)
            #expect(try await provider.finished(sent)["counters"]["accepted"] == 2)
            let bodies = Dictionary(service.posts.map { ($0.path, $0.body) }) { $1 }
            #expect(german.read(bodies["/de"] ?? []) == ["title": "Hallo Ada", "icon": "/icon.png"])
            #expect(other.read(bodies["/en"] ?? []) == ["title": "Hello Bob", "icon": "/icon.png", "body": "x"])
        }
    }

    @Test func onlyBrowsersGetIt() async throws {
        try await self.withBrowsers { provider, service in
            let browser = Browser(at: service.url("/push/1"))
            _ = try await Self.register(provider, browser)
            _ = try await provider.register(Vectors.tokenA, ["environment": "production"])
            let counted = try await provider.api.post(
                "\(Self.app)/audience:count",
                ["audience": ["all": true], "kind": "web"]
            )
            #expect(counted.json["count"] == 1)
            let sent = try await provider.send(["to": ["all": true], "web": ["title": "Hi"]])
            #expect(try await provider.finished(sent)["recipients"] == 1)
            let named = try await provider.send(["to": ["tokens": [.string(Vectors.tokenA)]], "web": ["title": "Hi"]])
            #expect(named.code == "token_of_other_kind")
            // An alert needs a credential for Apple, which this app has not.
            #expect(try await provider.send(["to": ["all": true], "alert": "Hi"]).code == "missing_credential")
        }
    }

    @Test func contentIsChecked() async throws {
        try await self.withBrowsers { provider, service in
            _ = try await Self.register(provider, Browser(at: service.url("/push/1")))
            let refused: [(members: [String: JSONValue], code: String, field: String)] = [
                (["web": [:]], "missing_content", "web"), (["web": "Hi"], "wrong_type", "web"),
                (["web": ["title": "Hi"], "alert": "Hi"], "conflicting_field", "alert"),
                (["web": ["title": "Hi"], "payload": ["aps": [:]]], "conflicting_field", "web"),
                (["web": ["title": "Hi"], "topic": .string(Vectors.bundleID)], "conflicting_field", "topic"),
                (["web": ["title": "Hi"], "environment": "sandbox"], "conflicting_field", "environment"),
                (["web": ["title": "Hi"], "encrypted": true], "conflicting_field", "encrypted"),
                (["web": ["title": "Hi"], "pushType": "voip"], "conflicting_field", "web"),
                (["web": ["title": "Hi"], "receipts": "device"], "conflicting_field", "receipts"),
                (["web": ["title": .string(String(repeating: "a", count: 3982))]], "payload_too_large", "web"),
                (
                    ["web": ["title": "Hi"], "localizations": ["de": ["alert": "Hallo"]]], "unknown_field",
                    "localizations.de.alert"
                ),
            ]
            for (members, code, field) in refused {
                let response = try await provider.send(.object(members.merging(["to": ["all": true]]) { $1 }))
                #expect(response.status == 400, "\(members)")
                #expect(response.code == code, "\(members)")
                #expect(response.field == field, "\(members)")
            }
            // {"title":"…"} has 12 bytes besides the title.
            let longest: JSONValue = .string(String(repeating: "a", count: WebPushKeys.maximumContent - 12))
            let largest = try await provider.send(["to": ["all": true], "web": ["title": longest]])
            #expect(largest.status == 202)
            #expect(try await provider.finished(largest)["counters"]["accepted"] == 1)
            #expect(service.posts.map(\.body.count) == [4096])
            let silent = try await provider.send(["to": ["all": true], "web": ["data": 1]])
            #expect(silent.json["warnings"].elements.map { $0["field"] } == ["web"])
            let preview = try await provider.api.post(
                "\(Self.app)/notifications:preview",
                ["to": ["all": true], "web": ["title": "Hi"]]
            )
            #expect(preview.json["limit"] == 3993 && preview.json["size"] == 14)
            #expect(preview.json["payload"] == ["title": "Hi"])
        }
    }

    @Test func badSubscriptionsAreRefused() async throws {
        try await self.withBrowsers(addresses: AddressPolicy()) { provider, service in
            func code(_ body: [String: JSONValue]) async throws -> (code: String?, field: String?) {
                let response = try await provider.api.post("\(Self.app)/devices", .object(body))
                return (response.code, response.field)
            }
            let local = try await Self.register(provider, Browser(at: service.url("/x")))
            #expect(local.field == "subscription.endpoint" && local.status == 400)
            let metadata = try await Self.register(provider, Browser(at: "https://169.254.169.254/x"))
            #expect(metadata.code == "address_not_allowed")
            let good = Browser(at: "https://push.example/x").subscription
            #expect(try await code(["subscription": good, "token": .string(Vectors.tokenA)]).field == "token")
            #expect(try await code(["subscription": good, "kind": "voip"]).field == "kind")
            #expect(try await code(["subscription": good, "environment": "sandbox"]).field == "environment")
            #expect(try await code(["subscription": good, "vapidKey": "AAAA"]).field == "vapidKey")
            #expect(try await code(["subscription": [:]]).field == "subscription.endpoint")
            #expect(try await code(["kind": "web"]).field == "subscription")
            #expect(try await code(["token": .string(Vectors.tokenA), "vapidKey": "AAAA"]).field == "vapidKey")
            let unknown: JSONValue = .string(Base64URL.encode(VAPIDKey().publicKey))
            #expect(try await code(["subscription": good, "vapidKey": unknown]).code == "unknown_vapid_key")
            let entries: JSONValue = .array([["subscription": good], ["subscription": 7], ["kind": "web"]])
            let batch = try await provider.api.post("\(Self.app)/devices:batch", ["devices": entries])
            let results = batch.json["results"].elements
            #expect(results.map { $0["result"].stringValue } == ["added", "refused", "refused"])
            #expect(results.last?["error"]["field"] == "devices[2].subscription")
        }
    }

    @Test func aVAPIDKeyComesFirst() async throws {
        try await self.withBrowsers(hasKey: false) { provider, service in
            let response = try await Self.register(provider, Browser(at: service.url("/x")))
            #expect(response.status == 409 && response.code == "no_vapid_key")
            let sent = try await provider.send(["to": ["all": true], "web": ["title": "Hi"]])
            #expect(sent.status == 409 && sent.code == "no_vapid_key")
        }
    }

    @Test func aSubscriptionKeepsItsKey() async throws {
        try await self.withBrowsers { provider, service in
            let (old, new) = (Browser(at: service.url("/old")), Browser(at: service.url("/new")))
            _ = try await Self.register(provider, old)
            let first = try await provider.api.get("\(Self.app)/vapid").json["publicKey"].stringValue
            let second = try await provider.api.post("\(Self.app)/vapid:rotate", [:]).json["publicKey"].stringValue
            _ = try await Self.register(provider, new)
            _ = try await Self.register(provider, old)
            let sent = try await provider.send(["to": ["all": true], "web": ["title": "Hi"]])
            #expect(try await provider.finished(sent)["counters"]["accepted"] == 2)
            let keys = service.posts.map { post in
                let credential = VAPIDCredential(authorization: post.headers["authorization"].first)
                return (post.path, credential.map { Base64URL.encode($0.publicKey) })
            }
            #expect(Dictionary(keys) { $1 } == ["/old": first, "/new": second])
        }
    }

    /// A page registers itself with the public key of the app.
    @Test func aPageRegistersItsBrowser() async throws {
        try await self.withBrowsers { provider, service in
            let key: JSONValue = ["name": "page", "scopes": ["registerSelf"], "apps": [.string(Vectors.bundleID)]]
            var page = provider.api
            page.apiKey = try await provider.api.post("/v1/keys", key).json["key"].stringValue
            let browser = Browser(at: service.url("/push/1"))
            let path = "\(Self.app)/installations/a-browser-1"
            let body: JSONValue = ["kind": "web", "subscription": browser.subscription, "locale": "de"]
            let first = try await page.put(path, body)
            #expect(first.status == 200)
            let sent = try await provider.send(["to": ["locale": "de"], "web": ["title": "Hi"]])
            #expect(try await provider.finished(sent)["counters"]["accepted"] == 1)
            #expect(service.posts.map(\.path) == ["/push/1"])
            // Another subscription takes the place of the first, if the page proves that it is the same browser.
            let next = Browser(at: service.url("/push/2"))
            let other: [String: JSONValue] = ["kind": "web", "subscription": next.subscription]
            #expect(try await page.put(path, .object(other)).status == 403)
            let proven = other.merging(["secret": first.json["secret"]]) { $1 }
            #expect(try await page.put(path, .object(proven)).status == 200)
            let again = try await provider.send(["to": ["all": true], "web": ["title": "Hi"]])
            #expect(try await provider.finished(again)["recipients"] == 1)
            #expect(service.posts.map(\.path) == ["/push/1", "/push/2"])
        }
    }
}
