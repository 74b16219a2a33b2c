import Foundation
import PushTesting
import PushTypes
import Testing

@testable import PushWire

@Suite struct VAPIDTests {
    private static let origin = WebOrigin("https://push.example.org/push/x")

    private func check(
        _ authorization: String,
        origin: String = "https://push.example.org",
        now: Timestamp = Vectors.issuedAt
    ) throws {
        let credential = try #require(VAPIDCredential(authorization: authorization))
        try credential.check(key: credential.publicKey, origin: try #require(WebOrigin(origin)), now: now)
    }

    @Test func theExampleOfTheRFCIsAccepted() throws {
        let end = Timestamp(seconds: 1_453_523_768)
        let before = end.advanced(by: .seconds(-60))
        try self.check(WebPushVectors.rfcAuthorization, origin: "https://push.example.net", now: before)
        #expect(throws: VAPIDCredential.Fault.expired) {
            try self.check(WebPushVectors.rfcAuthorization, origin: "https://push.example.net", now: end)
        }
        #expect(throws: VAPIDCredential.Fault.audience) {
            try self.check(WebPushVectors.rfcAuthorization, origin: "https://push.example.org", now: before)
        }
    }

    @Test func aTokenIsValidForADayAtMost() throws {
        try self.check(WebPushVectors.ownAuthorization)
        // Some senders always use the whole day, by a clock that is a little ahead.
        try self.check(WebPushVectors.longAuthorization)
        try self.check(WebPushVectors.longAuthorization, now: Vectors.issuedAt.advanced(by: .seconds(-299)))
        #expect(throws: VAPIDCredential.Fault.tooLong) {
            try self.check(WebPushVectors.longAuthorization, now: Vectors.issuedAt.advanced(by: .seconds(-300)))
        }
    }

    @Test func aChangedTokenIsRefused() throws {
        let changed = WebPushVectors.ownAuthorization.replacing("t=eyJ0", with: "t=eyJ1")
        #expect(throws: VAPIDCredential.Fault.self) { try self.check(changed) }
        let signature = WebPushVectors.ownAuthorization.replacing(".OKYz", with: ".PKYz")
        #expect(throws: VAPIDCredential.Fault.signature) { try self.check(signature) }
    }

    @Test func anotherKeyIsRefused() throws {
        let credential = try #require(VAPIDCredential(authorization: WebPushVectors.ownAuthorization))
        let origin = try #require(Self.origin)
        let other = VAPIDKey().publicKey
        #expect(throws: VAPIDCredential.Fault.otherKey) {
            try credential.check(key: other, origin: origin, now: Vectors.issuedAt)
        }
    }

    @Test func whatIsSignedIsAccepted() throws {
        let key = VAPIDKey()
        let origin = try #require(Self.origin)
        let text = try key.authorization(
            for: origin,
            contact: "mailto:ops@example.org",
            expires: Vectors.issuedAt.advanced(by: .seconds(12 * 3600))
        )
        let credential = try #require(VAPIDCredential(authorization: text))
        #expect(credential.publicKey == key.publicKey)
        try credential.check(key: key.publicKey, origin: origin, now: Vectors.issuedAt)
        let claims = try #require(Base64URL.decode(credential.token.split(separator: ".")[1]))
        #expect(
            String(decoding: claims, as: UTF8.self)
                == #"{"aud":"https://push.example.org","exp":1700043200,"sub":"mailto:ops@example.org"}"#
        )
    }

    @Test func aKeyIsReadFromItsTexts() throws {
        let key = try #require(VAPIDKey(text: Vectors.privateKey))
        #expect(
            Base64URL.encode(key.publicKey)
                == "BINLlsM6BMZMxxKzDyFg1QSfz1I2E6ilgHbWgxxVsa9QBsVdkqOEPFFpDnaDhGtkmF4ipOD2zWPz1N3K8Ut2EMk"
        )
        #expect(VAPIDKey(text: Base64URL.encode(key.privateKey))?.publicKey == key.publicKey)
        #expect(VAPIDKey(text: "short") == nil)
        #expect(VAPIDKey(text: "") == nil)
    }

    @Test func theHeadersOfTheDraftsAreRead() throws {
        let credential = try #require(VAPIDCredential(authorization: WebPushVectors.ownAuthorization))
        let key = Base64URL.encode(credential.publicKey)
        let draft = VAPIDCredential(
            authorization: "WebPush \(credential.token)",
            cryptoKey: "dh=AAAA;p256ecdsa=\"\(key)\""
        )
        #expect(draft == credential)
        // Two fields, joined.
        let joined = "dh=AAAA, p256ecdsa=\(key)"
        #expect(VAPIDCredential(authorization: "WebPush \(credential.token)", cryptoKey: joined) == credential)
        #expect(VAPIDCredential(authorization: "VAPID k=\(key) , t=\(credential.token)") == credential)
    }

    @Test(
        arguments: [
            nil, "", "vapid", "vapid t=a", "vapid k=a", "Basic abc", "vapid t=a.b.c, k=AAAA", "WebPush a.b.c",
            "vapid " + String(repeating: "t=a,", count: 5000),
        ] as [String?]
    )
    func garbageIsNoCredential(_ text: String?) {
        #expect(VAPIDCredential(authorization: text) == nil)
    }

    @Test func originsAreCompared() {
        #expect(WebOrigin("HTTPS://Push.Example.org:443/a?b")?.description == "https://push.example.org")
        #expect(WebOrigin("http://127.0.0.1:8080/x")?.description == "http://127.0.0.1:8080")
        #expect(WebOrigin("https://[::1]:8443")?.description == "https://[::1]:8443")
        let others = [
            "", "push.example.org", "ftp://a", "https://", "https:///a", "https://a@b", "https://a b",
            "https://a:443:443", "https://:443", "https://:8443", "https://a:", "https://a:1b", "https://[::1",
            "https://::1",
        ]
        for text in others {
            #expect(WebOrigin(text) == nil, "\(text)")
        }
    }
}
