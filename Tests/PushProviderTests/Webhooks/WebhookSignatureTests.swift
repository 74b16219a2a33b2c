import Crypto
import Foundation
import ProviderModel
import PushTypes
import Testing

@testable import PushProvider

@Suite struct WebhookSignatureTests {
    let now = Timestamp(seconds: 1_700_000_000)
    let body = Data(#"{"id":"1","events":[]}"#.utf8)
    let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

    /// Made with: printf '%s' '1700000000.{"id":"1","events":[]}' | openssl dgst -sha256 -hmac SECRET
    let signed = "8ef6342ba09113652f686d8dcf8c8bb8167cca384a4b500471404ffa36f8a0fd"

    @Test func aSignatureIsTheOneThatOpenSSLMakes() {
        #expect(
            WebhookSignature.make(of: self.body, secrets: [self.secret], at: self.now)
                == "t=1700000000,v1=\(self.signed)"
        )
    }

    @Test func aReceiverAcceptsItForFiveMinutes() {
        let header = WebhookSignature.make(of: self.body, secrets: [self.secret], at: self.now)
        for seconds: Int64 in [-300, 0, 300] {
            #expect(self.verify(header, now: self.now.advanced(by: .seconds(seconds))))
        }
        for seconds: Int64 in [-301, 301, 86_400] {
            #expect(!self.verify(header, now: self.now.advanced(by: .seconds(seconds))))
        }
    }

    @Test func nothingElseVerifies() {
        let header = WebhookSignature.make(of: self.body, secrets: [self.secret], at: self.now)
        #expect(!WebhookSignature.verify(header, of: self.body + [0x20], secret: self.secret, now: self.now))
        #expect(!WebhookSignature.verify(header, of: self.body, secret: WebhookSecret.make(), now: self.now))
        #expect(!self.verify(header.replacing("t=1700000000", with: "t=1700000001"), now: self.now))
    }

    @Test(arguments: [
        "", "t=", "v1=", "t=1700000000", "t=1700000000,v1=", "t=1700000000,v1=zz", "t=x,v1=00", ",,,=,t,v1",
        "t=-9223372036854775808,v1=00", "t=9223372036854775807,v1=00", "t=99999999999999999999,v1=00",
        String(repeating: "v1=00,", count: 100_000),
    ])
    func garbageDoesNotVerify(header: String) {
        #expect(!self.verify(header, now: self.now))
    }

    @Test func whileASecretIsChangedBothVerify() {
        let old = WebhookSecret.make()
        let new = WebhookSecret.make()
        let stored = WebhookSecret.adding(new, to: old)
        let header = WebhookSignature.make(of: self.body, secrets: WebhookSecret.all(in: stored), at: self.now)
        #expect(WebhookSignature.verify(header, of: self.body, secret: old, now: self.now))
        #expect(WebhookSignature.verify(header, of: self.body, secret: new, now: self.now))
        #expect(WebhookSecret.newest(of: stored) == new)
        #expect(WebhookSecret.all(in: WebhookSecret.adding(WebhookSecret.make(), to: stored)).count == 2)
    }

    @Test func secretsAreLongAndDifferent() {
        let secrets = (0..<100).map { _ in WebhookSecret.make() }
        #expect(Set(secrets).count == 100)
        #expect(secrets.allSatisfy { $0.hasPrefix("whsec_") && $0.utf8.count == 6 + 43 && !$0.contains(" ") })
    }

    private func verify(_ header: String, now: Timestamp) -> Bool {
        WebhookSignature.verify(header, of: self.body, secret: self.secret, now: now)
    }
}

/// The check of a signature as a receiver makes it.
extension WebhookSignature {
    /// The maximum age of a post, and the maximum time that it may be ahead: five minutes.
    static let tolerance: Duration = .seconds(300)

    /// The maximum length of a header, in bytes. A longer one is rejected unread.
    fileprivate static let maximumLength = 1024

    /// Returns `true` if `header` signs `body` with `secret` at about `now`. It is for receivers in Swift and for tests.
    static func verify(
        _ header: String,
        of body: Data,
        secret: String,
        now: Timestamp,
        tolerance: Duration = Self.tolerance
    ) -> Bool {
        guard header.utf8.count <= Self.maximumLength else { return false }
        var seconds: Int64?
        var codes: [[UInt8]] = []
        for part in header.split(separator: ",") {
            if part.hasPrefix("t="), seconds == nil {
                seconds = Int64(part.dropFirst(2))
            } else if part.hasPrefix("v1="), let code = Hexadecimal.decode(part.dropFirst(3)) {
                codes.append(code)
            }
        }
        guard let seconds else { return false }
        let age = now.since(Timestamp(seconds: seconds))
        guard age <= tolerance, Timestamp(seconds: seconds).since(now) <= tolerance else { return false }
        let message = Data("\(seconds).".utf8) + body
        let key = SymmetricKey(data: Data(secret.utf8))
        return codes.contains { HMAC<SHA256>.isValidAuthenticationCode($0, authenticating: message, using: key) }
    }
}
