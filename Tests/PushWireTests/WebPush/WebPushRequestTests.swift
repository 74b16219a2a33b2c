import Foundation
import PushSupport
import PushTypes
import Testing

@testable import PushWire

@Suite struct WebPushRequestTests {
    private func request(_ headers: [String: [String]], hasBody: Bool = true) throws -> WebPushRequest {
        var headers = headers
        if hasBody, headers["content-encoding"] == nil { headers["content-encoding"] = ["aes128gcm"] }
        return try WebPushRequest(hasBody: hasBody) { headers[$0] ?? [] }
    }

    @Test func theTimeToLiveIsRequired() throws {
        for value in [nil, "", "-1", "1.5", "soon", "0x10", String(repeating: "9", count: 65)] {
            #expect(throws: WebPushRequest.Fault.ttl) { try self.request(value.map { ["ttl": [$0]] } ?? [:]) }
        }
        #expect(try self.request(["ttl": ["0"]]).ttl == 0)
        #expect(try self.request(["ttl": [" 60 "]]).ttl == 60)
        #expect(try self.request(["ttl": ["99999999999999999999"]]).ttl == 1 << 31)
    }

    @Test func urgencyAndTopic() throws {
        let plain = try self.request(["ttl": ["60"]])
        #expect(plain.urgency == .normal)
        #expect(plain.topic == nil)
        let full = try self.request(["ttl": ["60"], "urgency": ["Very-Low"], "topic": ["upd_-0"]])
        #expect(full.urgency == .veryLow)
        #expect(full.topic == "upd_-0")
        #expect(try self.request(["ttl": ["1"], "urgency": ["whatever"]]).urgency == .normal)
        for values in [["high", "low"], ["high, low"]] {
            #expect(throws: WebPushRequest.Fault.urgency) { try self.request(["ttl": ["1"], "urgency": values]) }
        }
        for topic in ["", String(repeating: "a", count: 33), "a b", "ä", "a=", "a.b"] {
            #expect(throws: WebPushRequest.Fault.topic) { try self.request(["ttl": ["1"], "topic": [topic]]) }
        }
    }

    @Test func codings() throws {
        #expect(try self.request(["ttl": ["1"]]).coding == .aes128gcm)
        #expect(try self.request(["ttl": ["1"]], hasBody: false).coding == .none)
        for coding in ["gzip", "aes256gcm", ""] {
            #expect(throws: WebPushRequest.Fault.coding) {
                try self.request(["ttl": ["1"], "content-encoding": [coding]])
            }
        }
        #expect(throws: WebPushRequest.Fault.coding) {
            try WebPushRequest(hasBody: true) { $0 == "ttl" ? ["1"] : [] }
        }
        let (salt, key) = ([UInt8](repeating: 3, count: 16), [UInt8](repeating: 4, count: 65))
        var headers = ["ttl": ["1"], "content-encoding": ["aesgcm"]]
        headers["encryption"] = ["keyid=p256dh;salt=\(Base64URL.encode(salt))"]
        #expect(throws: WebPushRequest.Fault.keys) { try self.request(headers) }
        headers["crypto-key"] = ["p256ecdsa=BAAA, keyid=p256dh; dh=\(Base64URL.encode(key))"]
        #expect(try self.request(headers).coding == .aesgcm(salt: salt, publicKey: key))
        headers["encryption"] = ["salt=AAAA"]
        #expect(throws: WebPushRequest.Fault.keys) { try self.request(headers) }
    }

    @Test func statuses() {
        #expect(WebPushRequest.Fault.coding.status == 415)
        #expect(WebPushRequest.Fault.ttl.status == 400)
    }

    // MARK: Subscriptions

    private static let publicKey = WebPushVectors.messages[0].agentPublic
    private static let secret = WebPushVectors.messages[0].secret

    private func subscription(_ publicKey: String, _ secret: String, url: String = "https://push.example/x") throws
        -> WebPushSubscription
    {
        let json: JSONValue = .object([
            "endpoint": .string(url), "expirationTime": .null,
            "keys": .object(["p256dh": .string(publicKey), "auth": .string(secret)]),
        ])
        return try WebPushSubscription(json, at: "subscription")
    }

    @Test func keysMayHaveAnyBase64() throws {
        let plain = try self.subscription(Self.publicKey, Self.secret)
        let padded = try self.subscription(Self.publicKey + "=", Self.secret + "==")
        let standard = try self.subscription(
            Self.publicKey.replacing("-", with: "+").replacing("_", with: "/") + "=",
            Self.secret.replacing("-", with: "+").replacing("_", with: "/") + "=="
        )
        #expect(padded == plain)
        #expect(standard == plain)
        #expect(WebPushSubscription(text: plain.text) == plain)
        #expect(try plain.token.bytes.count == 32)
        #expect(try plain.token != self.subscription(Self.publicKey, Self.secret, url: "https://push.example/y").token)
    }

    @Test func badSubscriptionsNameTheMember() {
        func path(_ body: () throws -> WebPushSubscription) -> String? {
            do { _ = try body() } catch let error as RequestError { return error.path } catch { return "other" }
            return nil
        }
        #expect(path { try WebPushSubscription(.string("x"), at: "subscription") } == "subscription")
        #expect(path { try WebPushSubscription(.object([:]), at: "s") } == "s.endpoint")
        #expect(path { try self.subscription(Self.publicKey, "AAAA") } == "subscription.keys.auth")
        #expect(path { try self.subscription("AAAA", Self.secret) } == "subscription.keys.p256dh")
        let offCurve = Base64URL.encode([4] + [UInt8](repeating: 1, count: 64))
        #expect(path { try self.subscription(offCurve, Self.secret) } == "subscription.keys.p256dh")
        let long = "https://push.example/" + String(repeating: "a", count: 2048)
        #expect(path { try self.subscription(Self.publicKey, Self.secret, url: long) } == "subscription.endpoint")
        #expect(WebPushSubscription(text: "") == nil)
        #expect(WebPushSubscription(text: "a\nb\nc") == nil)
    }
}
