import Crypto
import Foundation
import PushSender
import PushTesting
import PushTypes
import Testing

@Suite struct ProviderTokenSignerTests {
    let start = Timestamp(seconds: 1_700_000_000)

    @Test func aTokenHasTheDocumentedShapeAndVerifies() throws {
        var token = ProviderTokenSigner(key: try Self.key())
        let parts = try token.text(now: self.start).split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        #expect(String(decoding: try Self.decode(parts[0]), as: UTF8.self) == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
        #expect(String(decoding: try Self.decode(parts[1]), as: UTF8.self) == #"{"iss":"DEF123GHIJ","iat":1700000000}"#)
        let publicKey = try P256.Signing.PublicKey(pemRepresentation: Vectors.publicKey)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: Self.decode(parts[2]))
        #expect(publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test func oneTokenIsUsedForFiftyMinutes() throws {
        var token = ProviderTokenSigner(key: try Self.key())
        let first = try token.text(now: self.start)
        #expect(try token.text(now: self.start.advanced(by: .seconds(50 * 60 - 1))) == first)
        #expect(try token.text(now: self.start.advanced(by: .seconds(50 * 60))) != first)
    }

    @Test func aClockSetBackALittleKeepsTheToken() throws {
        var token = ProviderTokenSigner(key: try Self.key())
        let first = try token.text(now: self.start)
        #expect(try token.text(now: self.start.advanced(by: .seconds(-1))) == first)
        #expect(try token.text(now: self.start.advanced(by: .seconds(-20 * 60 + 1))) == first)
        #expect(try token.text(now: self.start.advanced(by: .seconds(-20 * 60))) != first)
    }

    @Test func aClockThatStepsBackAndForthRestoresTheEarlierToken() throws {
        var token = ProviderTokenSigner(key: try Self.key())
        let first = try token.text(now: self.start)
        let back = self.start.advanced(by: .seconds(-60 * 60))
        let second = try token.text(now: back)
        #expect(second != first)
        #expect(try token.text(now: self.start) == first)
        #expect(try token.text(now: back) == second)
    }

    @Test func theTimeOfRenewalIsKnown() throws {
        var token = ProviderTokenSigner(key: try Self.key())
        #expect(token.renewAt == nil)
        let text = try token.text(now: self.start)
        #expect(token.renewAt == self.start.advanced(by: .seconds(50 * 60)))
        token.tokenExpired(text, now: self.start.advanced(by: .seconds(30 * 60)))
        #expect(token.renewAt == self.start.advanced(by: .seconds(20 * 60)))
    }

    @Test func anExpiredTokenIsRenewedOnceItIsTwentyMinutesOld() throws {
        var token = ProviderTokenSigner(key: try Self.key())
        let first = try token.text(now: self.start)
        let early = self.start.advanced(by: .seconds(20 * 60 - 1))
        token.tokenExpired(first, now: early)
        #expect(try token.text(now: early) == first)
        let late = self.start.advanced(by: .seconds(20 * 60))
        #expect(try token.text(now: late) == first, "an early refusal is forgotten")
        token.tokenExpired(first, now: late)
        #expect(try token.text(now: late.advanced(by: .seconds(-60))) == first, "the clock went back since")
        let second = try token.text(now: late)
        #expect(second != first)
        for _ in 0..<1000 { token.tokenExpired(first, now: late) }
        #expect(try token.text(now: late) == second, "refusals of the old token say nothing about the new one")
    }

    @Test(arguments: 1...20)
    func noTwoTokensAreIssuedWithinTwentyMinutes(seed: UInt64) throws {
        var random = Sequence(state: seed)
        var token = ProviderTokenSigner(key: try Self.key())
        var now = self.start
        var issued: [String: Int64] = [:]
        for _ in 0..<300 {
            now = now.advanced(by: .seconds(Int64.random(in: -2000...2400, using: &random)))
            let text = try token.text(now: now)
            if issued[text] == nil {
                let at = try Self.issuedAt(text)
                #expect(at == now.seconds)
                #expect(issued.values.allSatisfy { abs($0 - at) >= 20 * 60 })
                issued[text] = at
            }
            let age = now.seconds - (try #require(issued[text]))
            #expect(age > -20 * 60 && age < 50 * 60)
            if Bool.random(using: &random) { token.tokenExpired(text, now: now) }
        }
    }

    @Test func anInvalidKeyIsRejectedWithTheReason() {
        #expect(throws: CredentialError.badTeamID) {
            try ProviderKey(teamID: "short", keyID: Vectors.keyID, pem: Vectors.privateKey)
        }
        #expect(throws: CredentialError.badKeyID) {
            try ProviderKey(teamID: Vectors.teamID, keyID: "ABC123DEF\"", pem: Vectors.privateKey)
        }
        #expect(throws: CredentialError.badPrivateKey) {
            try ProviderKey(teamID: Vectors.teamID, keyID: Vectors.keyID, pem: Vectors.publicKey)
        }
    }

    static func key() throws -> ProviderKey {
        try ProviderKey(teamID: Vectors.teamID, keyID: Vectors.keyID, pem: Vectors.privateKey)
    }

    static func issuedAt(_ token: String) throws -> Int64 {
        let claims = try #require(token.split(separator: ".").dropFirst().first)
        let text = String(decoding: try Self.decode(String(claims)), as: UTF8.self)
        return try #require(Int64(text.filter(\.isNumber).suffix(10)))
    }

    /// Numbers that are the same in every run.
    struct Sequence: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return self.state ^ (self.state >> 29)
        }
    }

    static func decode(_ text: String) throws -> Data {
        let base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return try #require(Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)))
    }
}
