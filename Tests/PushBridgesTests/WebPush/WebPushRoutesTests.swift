import Foundation
import NIOCore
import ProviderAPI
import PushProvider
import PushSender
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushBridges

/// Messages of others, from their request to the push.
@Suite(.timeLimit(.patience)) struct WebPushRoutesTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"
    private static let resources = "\(Self.app)/installations/the-phone-1/push-resources"
    /// The body of the example of RFC 8291.
    static let body = Base64URL.decode(
        """
        DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_\
        yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN
        """
    )

    /// An installation that is registered, and its push service.
    struct Fixture: Sendable {
        let provider: RunningProvider
        let sender: ScriptedSender
        /// The client of the app, and the secret of the installation.
        let app: JSONClient
        let secret: String

        private var headers: [String: String] { ["installation-secret": self.secret] }

        func call(_ method: String, _ path: String = "", _ body: JSONValue? = nil) async throws -> JSONClient.Response {
            try await self.app.call(
                method,
                WebPushRoutesTests.resources + path,
                try body.map { try $0.text },
                headers: self.headers
            )
        }

        /// Makes a push resource, and returns its path.
        func path(_ body: JSONValue = [:]) async throws -> String {
            let made = try await self.call("POST", "", body)
            #expect(made.status == 201)
            let endpoint = try #require(made.json["endpoint"].stringValue)
            let origin = try #require(WebOrigin(endpoint))
            return String(endpoint.dropFirst(origin.description.utf8.count))
        }

        /// Posts as any sender does.
        func post(
            _ path: String,
            _ body: Data? = WebPushRoutesTests.body,
            _ headers: [String: String] = [:]
        ) async throws -> JSONClient.Response {
            let client = JSONClient(baseURL: self.provider.api.baseURL)
            let usual = ["ttl": "60", "content-encoding": "aes128gcm"].merging(headers) { $1 }.filter {
                $0.value != "-"
            }
            return try await client.call("POST", path, body, headers: usual)
        }

        /// Waits until so many pushes were sent, and returns the last one.
        func sent(_ count: Int = 1) async throws -> ScriptedSender.Sent {
            try await eventually { self.sender.sent.count >= count }
            return try #require(self.sender.sent.last)
        }
    }

    func withInstallation(
        time: any TimeSource = SystemTime(),
        origin: String? = nil,
        configure: @escaping @Sendable (inout ProviderConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (Fixture) async throws -> Void
    ) async throws {
        let sender = ScriptedSender()
        try await withProvider(
            senders: sender,
            time: time,
            addition: { try Bridges($0) },
            configure: {
                $0.webhookAddresses.allowsPrivate = true
                $0.publicOrigin = origin
                configure(&$0)
            }
        ) { provider in
            try await provider.addVectorsApp(in: [.sandbox])
            let key: JSONValue = ["name": "app", "scopes": ["registerSelf"], "apps": [.string(Vectors.bundleID)]]
            var app = provider.api
            app.apiKey = try await provider.api.post("/v1/keys", key).json["key"].stringValue
            let device: JSONValue = ["token": .string(Vectors.tokenA), "environment": "sandbox"]
            let registered = try await app.put("\(Self.app)/installations/the-phone-1", device)
            let secret = try #require(registered.json["secret"].stringValue)
            try await body(Fixture(provider: provider, sender: sender, app: app, secret: secret))
        }
    }

    @Test func aMessageBecomesAPush() async throws {
        try await self.withInstallation(time: ManualTime(), origin: "https://push.example.org") { fixture in
            let path = try await fixture.path()
            let response = try await fixture.post(
                path,
                Self.body,
                ["urgency": "high", "topic": "upd", "authorization": "vapid t=any, k=any"]
            )
            #expect(response.status == 201)
            #expect(response.headers["ttl"] == "60")
            let location = try #require(response.headers["location"])
            #expect(location.hasPrefix("https://push.example.org/push/messages/"))
            let push = try await fixture.sent()
            #expect(push.token.hex == Vectors.tokenA && push.environment == .sandbox)
            #expect(push.notification.pushType == .alert && push.notification.priority == .immediate)
            #expect(push.notification.expiration == .at(seconds: 1_700_000_060))
            #expect(push.notification.collapseID != nil)
            let body = try #require(Self.body)
            let payload = try JSONValue(parsing: Data(push.notification.payload.readableBytesView))
            #expect(payload["wp"].stringValue == Base64URL.encode(body))
            #expect(push.notification.payload.readableBytes == 254)
            // It is a notification with its origin.
            let id = try #require(location.split(separator: "/").last)
            let notification = try await fixture.provider.api.get("/v1/notifications/\(id)")
            #expect(notification.status == 200)
            // Who posts does not get what is fetched.
            #expect(try await fixture.post("/push/messages/\(id)").status == 405)
        }
    }

    @Test func formalitiesAreAnswered() async throws {
        try await self.withInstallation { fixture in
            let path = try await fixture.path()
            #expect(try await fixture.post(path, Self.body, ["ttl": "-"]).status == 400)
            #expect(try await fixture.post(path, Self.body, ["topic": String(repeating: "a", count: 33)]).status == 400)
            #expect(try await fixture.post(path, Self.body, ["urgency": "high, low"]).status == 400)
            #expect(try await fixture.post(path, Self.body, ["content-encoding": "gzip"]).status == 415)
            #expect(try await fixture.post(path, Self.body, ["content-encoding": "-"]).status == 415)
            #expect(try await fixture.post(path, Data(repeating: 1, count: 4097)).status == 413)
            #expect(try await fixture.post("/push/AAAAAAAAAAAAAAAAAAAAAAAAAAA").status == 404)
            #expect(try await fixture.post("/push/x").status == 404)
            #expect(fixture.sender.sent.isEmpty)
            #expect(try await fixture.post(path, nil).status == 201)
            let push = try await fixture.sent()
            #expect(push.notification.pushType == .background)
        }
    }

    @Test func aLargeMessageIsFetched() async throws {
        try await self.withInstallation { fixture in
            let path = try await fixture.path(["name": "ada"])
            let body = Data((0..<4096).map { UInt8($0 & 255) })
            #expect(try await fixture.post(path, body).status == 201)
            let push = try await fixture.sent()
            let payload = try JSONValue(parsing: Data(push.notification.payload.readableBytesView))
            #expect(payload["wpid"] == "ada" && payload["wp"] == .null)
            let id = try #require(payload["wpref"].stringValue)
            let token = try #require(payload["wptoken"].stringValue)
            var app = JSONClient(baseURL: fixture.provider.api.baseURL)
            #expect(try await app.get("/push/messages/\(id)").status == 404)
            app.apiKey = PushCapability().text
            #expect(try await app.get("/push/messages/\(id)").status == 404)
            app.apiKey = token
            let fetched = try await app.get("/push/messages/\(id)")
            #expect(fetched.status == 200 && fetched.body == body)
            #expect(fetched.headers["cache-control"] == "no-store")
            #expect(try await app.get("/push/messages/\(id)").body == body, "the extension may ask twice")
            #expect(try await app.get("/push/messages/x").status == 404)
        }
    }

    @Test func aBoundAddressAcceptsItsSenderOnly() async throws {
        try await self.withInstallation { fixture in
            let (own, other) = (VAPIDKey(), VAPIDKey())
            let path = try await fixture.path(["vapidKey": .string(Base64URL.encode(own.publicKey))])
            let origin = try #require(WebOrigin(fixture.provider.api.baseURL))
            func post(_ key: VAPIDKey, to origin: WebOrigin, hours: Int) async throws -> Int {
                let expires = SystemTime().now.advanced(by: .seconds(hours * 3600))
                let contact = "mailto:ops@example.org"
                let text = try key.authorization(for: origin, contact: contact, expires: expires)
                return try await fixture.post(path, Self.body, ["authorization": text]).status
            }
            #expect(try await fixture.post(path).status == 401)
            #expect(try await fixture.post(path, Self.body, ["authorization": "Bearer x"]).status == 403)
            #expect(try await post(other, to: origin, hours: 12) == 403)
            #expect(try await post(own, to: origin, hours: 25) == 403)
            #expect(try await post(own, to: origin, hours: -1) == 403)
            #expect(try await post(own, to: try #require(WebOrigin("https://push.example.net")), hours: 12) == 403)
            #expect(fixture.sender.sent.isEmpty)
            #expect(try await post(own, to: origin, hours: 12) == 201)
            // Behind a proxy that speaks TLS the origin has another scheme.
            let secure = try #require(WebOrigin(origin.description.replacing("http://", with: "https://")))
            #expect(try await post(own, to: secure, hours: 12) == 201)
        }
    }

    /// Another push service has genuine tokens of the sender, for its own origin.
    @Test(arguments: [nil, "https://push.example.org"])
    func noSenderChoosesTheOriginOfItsToken(origin: String?) async throws {
        try await self.withInstallation(origin: origin) { fixture in
            let key = VAPIDKey()
            let path = try await fixture.path(["vapidKey": .string(Base64URL.encode(key.publicKey))])
            func post(_ audience: String, host: String) async throws -> Int {
                let expires = SystemTime().now.advanced(by: .seconds(3600))
                let audience = try #require(WebOrigin(audience))
                let text = try key.authorization(for: audience, contact: "mailto:a@b.org", expires: expires)
                return try await fixture.post(path, Self.body, ["authorization": text, "host": host]).status
            }
            for scheme in ["https", "http"] {
                #expect(try await post("\(scheme)://evil.example", host: "evil.example") == 403)
            }
            // Where the address is the right one, a proxy may name another host.
            #expect(try await post(origin ?? fixture.provider.api.baseURL, host: "backend.internal") == 201)
        }
    }

    @Test func othersTakeNothingOfTheRateOfABoundAddress() async throws {
        try await self.withInstallation(time: ManualTime()) { fixture in
            let (own, other) = (VAPIDKey(), VAPIDKey())
            let path = try await fixture.path(["vapidKey": .string(Base64URL.encode(own.publicKey))])
            let origin = try #require(WebOrigin(fixture.provider.api.baseURL))
            let headers = try [other, own].map { key in
                let expires = Vectors.issuedAt.advanced(by: .seconds(3600))
                return [
                    "authorization": try key.authorization(for: origin, contact: "mailto:a@b.org", expires: expires)
                ]
            }
            var statuses: [Int] = []
            for _ in 0..<40 { statuses.append(try await fixture.post(path, Self.body, headers[0]).status) }
            #expect(statuses.allSatisfy { $0 == 403 })
            statuses = []
            for _ in 0..<100 { statuses.append(try await fixture.post(path, Self.body, headers[1]).status) }
            #expect(statuses.allSatisfy { $0 == 201 })
        }
    }

    @Test func anInstallationHasItsOwnAddresses() async throws {
        try await self.withInstallation { fixture in
            let key: JSONValue = .string(Base64URL.encode(VAPIDKey().publicKey))
            let made = try await fixture.call("POST", "", ["name": "ada", "vapidKey": key])
            #expect(made.json["name"] == "ada" && made.json["vapidKey"] == key)
            let endpoint = try #require(made.json["endpoint"].stringValue)
            #expect(endpoint.hasPrefix("\(fixture.provider.api.baseURL)/push/"))
            let list = try await fixture.call("GET").json["pushResources"].elements
            #expect(list.map { $0["id"] } == [made.json["id"]])
            #expect(list.map { $0["endpoint"] } == [.null], "it is shown once")
            for body: JSONValue in [["name": ""], ["vapidKey": "AAAA"], ["name": 7], ["x": 1]] {
                #expect(try await fixture.call("POST", "", body).status == 400, "\(body)")
            }
            var stranger = fixture.app
            #expect(try await stranger.get(Self.resources).status == 403, "the secret is missing")
            stranger.apiKey = nil
            #expect(try await stranger.get(Self.resources).status == 401)
            let other = "\(Self.app)/installations/the-phone-2/push-resources"
            let foreign = try await fixture.app.call(
                "GET",
                other,
                nil,
                headers: ["installation-secret": fixture.secret]
            )
            #expect(foreign.status == 403)
            let id = try #require(made.json["id"].stringValue)
            let path = "/push/\(try #require(endpoint.split(separator: "/").last))"
            #expect(try await fixture.post(path, Self.body, ["authorization": "vapid t=a, k=b"]).status == 403)
            #expect(try await fixture.call("DELETE", "/\(id)").status == 204)
            #expect(try await fixture.call("DELETE", "/\(id)").code == "no_such_push_resource")
            #expect(try await fixture.post(path).status == 404)
        }
    }

    @Test func anAddressEndsWithItsDevice() async throws {
        try await self.withInstallation { fixture in
            let path = try await fixture.path()
            let token = try #require(DeviceToken(hex: Vectors.tokenA))
            fixture.sender.script(token, .rejected(.init(status: 410, reasonText: "Unregistered")))
            #expect(try await fixture.post(path).status == 201)
            // The outcome is written a moment later.
            while true {
                let devices = try await fixture.provider.api.get("\(Self.app)/devices/\(Vectors.tokenA)").json[
                    "devices"
                ]
                if devices.elements.first?["state"] == "inactive" { break }
                try Task.checkCancellation()
            }
            #expect(try await fixture.post(path).status == 404)
        }
    }

    /// The store is asked no more about addresses that were made up, and those that had messages go on.
    @Test func whoPostsToNothingLearnsNothing() async throws {
        let configure: @Sendable (inout ProviderConfiguration) -> Void = {
            $0.budgetLimits[.unknownTargets] = BudgetLimits(.init(caller: .rate(perSecond: 1, burst: 3)))
        }
        try await self.withInstallation(time: ManualTime(), configure: configure) { fixture in
            let (known, new) = (try await fixture.path(), try await fixture.path())
            #expect(try await fixture.post(known).status == 201)
            var statuses: [Int] = []
            for _ in 0..<5 { statuses.append(try await fixture.post("/push/\(PushCapability().text)").status) }
            #expect(statuses == [404, 404, 404, 429, 429])
            #expect(try await fixture.post(known).status == 201)
            #expect(try await fixture.post(new).status == 429)
        }
    }

    @Test func tooManyMessagesWait() async throws {
        try await self.withInstallation(time: ManualTime()) { fixture in
            let (path, other) = (try await fixture.path(), try await fixture.path())
            var statuses: [Int] = []
            for _ in 0..<101 { statuses.append(try await fixture.post(path).status) }
            #expect(statuses.prefix(100).allSatisfy { $0 == 201 })
            let last = try await fixture.post(path)
            #expect(statuses.last == 429 && last.status == 429)
            #expect(last.headers["retry-after"] != nil)
            #expect(try await fixture.post(other).status == 201, "it has a rate of its own")
        }
    }
}
