import Crypto
import Foundation
import PushProtocol
import PushSender
import PushTesting
import Testing

@Suite struct ProviderTokenTests {
    let start = Timestamp(seconds: 1_700_000_000)

    @Test func aTokenHasTheDocumentedShapeAndVerifies() throws {
        var token = ProviderToken(key: try Self.key())
        let parts = try token.text(now: self.start).split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        #expect(String(decoding: try Self.decode(parts[0]), as: UTF8.self) == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
        #expect(String(decoding: try Self.decode(parts[1]), as: UTF8.self) == #"{"iss":"DEF123GHIJ","iat":1700000000}"#)
        let publicKey = try P256.Signing.PublicKey(pemRepresentation: Vectors.publicKey)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: Self.decode(parts[2]))
        #expect(publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test func oneTokenServesForFiftyMinutes() throws {
        var token = ProviderToken(key: try Self.key())
        let first = try token.text(now: self.start)
        #expect(try token.text(now: self.start.advanced(by: .seconds(50 * 60 - 1))) == first)
        #expect(try token.text(now: self.start.advanced(by: .seconds(50 * 60))) != first)
    }

    @Test func aClockSetBackMakesANewToken() throws {
        var token = ProviderToken(key: try Self.key())
        let first = try token.text(now: self.start)
        #expect(try token.text(now: self.start.advanced(by: .seconds(-1))) != first)
    }

    @Test func aKeyThatCannotBeUsedIsRefusedWithTheReason() {
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

    static func decode(_ text: String) throws -> Data {
        let base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return try #require(Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)))
    }
}
