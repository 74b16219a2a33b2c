import Foundation
import PushBridges
import PushDevice
import PushSupport
import PushTesting
import PushTypes
import Testing

/// Messages that others post for an installation, through provider and gateway, to a phone.
@Suite(.timeLimit(.patience)) struct WebPushTests {
    /// Certificates are checked by the system's clock, so the manual one starts there.
    let time = ManualTime(SystemTime().now)

    private static let app = "/v1/apps/\(Vectors.bundleID)"
    private static let installation = "\(Self.app)/installations/the-phone-1"

    /// Registers the phone's installation, and returns the path of an address of it.
    private static func address(_ loop: RunningLoop, _ token: String) async throws -> String {
        let key: JSONValue = ["name": "app", "scopes": ["registerSelf"], "apps": [.string(Vectors.bundleID)]]
        var app = loop.provider.api
        app.apiKey = try await loop.provider.api.post("/v1/keys", key).json["key"].stringValue
        let device: JSONValue = ["token": .string(token), "environment": "sandbox"]
        let registered = try await app.put(Self.installation, device)
        let secret = try #require(registered.json["secret"].stringValue)
        let made = try await app.post(
            "\(Self.installation)/push-resources",
            [:],
            headers: ["installation-secret": secret]
        )
        let endpoint = try #require(made.json["endpoint"].stringValue)
        return String(endpoint.dropFirst(app.baseURL.utf8.count))
    }

    /// Posts a body as any sender does, and waits until the push service has the push.
    private static func post(
        _ loop: RunningLoop,
        _ path: String,
        _ body: Data,
        _ headers: [String: String] = [:]
    ) async throws {
        let sender = JSONClient(baseURL: loop.provider.api.baseURL)
        let all = headers.merging(["ttl": "60", "content-encoding": "aes128gcm"]) { $1 }
        let response = try await sender.call("POST", path, body, headers: all)
        #expect(response.status == 201)
        let id = try #require(response.headers["location"]?.split(separator: "/").last)
        while try await loop.provider.api.get("/v1/notifications/\(id)").json["state"] != "done" {
            try Task.checkCancellation()
        }
    }

    /// Returns the payload of the next notification of the phone.
    private static func payload(_ device: Device) async throws -> JSONValue {
        _ = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
        let received = try #require(await device.next())
        return try JSONValue(parsing: received.payload)
    }

    /// The vector W11 of the reference.
    @Test func ofTwoMessagesWithATopicThePhoneGetsTheLater() async throws {
        try await withLoop(time: self.time, addition: { try Bridges($0) }) { loop in
            let identity = try await loop.activate()
            let path = try await Self.address(loop, try await loop.token(identity))
            let bodies = ["earlier", "later", "next"].map { Data($0.utf8) }
            for body in bodies.prefix(2) { try await Self.post(loop, path, body, ["topic": "upd"]) }
            try await loop.withDevice(identity) { device in
                let later = try await Self.payload(device)
                #expect(later["wp"].stringValue == Base64URL.encode(bodies[1]))
                #expect(later["aps"] == ["alert": ["loc-key": "WP"], "mutable-content": 1])
                try await Self.post(loop, path, bodies[2])
                let next = try await Self.payload(device)
                #expect(next["wp"].stringValue == Base64URL.encode(bodies[2]), "nothing is between them")
            }
        }
    }

    /// The vector W10 of the reference.
    @Test func aMessageThatDoesNotFitIsFetchedByThePhone() async throws {
        try await withLoop(time: self.time, addition: { try Bridges($0) }) { loop in
            let identity = try await loop.activate()
            let path = try await Self.address(loop, try await loop.token(identity))
            let body = Data((0..<4096).map { UInt8($0 & 255) })
            try await Self.post(loop, path, body)
            try await loop.withDevice(identity) { device in
                let payload = try await Self.payload(device)
                let id = try #require(payload["wpref"].stringValue)
                var phone = JSONClient(baseURL: loop.provider.api.baseURL)
                phone.apiKey = payload["wptoken"].stringValue
                #expect(try await phone.get("/push/messages/\(id)").body == body)
            }
        }
    }
}
