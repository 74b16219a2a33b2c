import Crypto
import Foundation
import ProviderModel
import PushProvider
import Testing

@Suite("Encryption of content") struct ContentSealerTests {
    private let notification = UUID()
    private let payload = Data(#"{"aps":{"alert":"the secret"}}"#.utf8)

    private func open(_ text: String, _ key: Curve25519.KeyAgreement.PrivateKey, app: String) throws -> Data {
        let bytes = try #require(Data(base64Encoded: text))
        var recipient = try HPKE.Recipient(
            privateKey: key,
            ciphersuite: .Curve25519_SHA256_ChachaPoly,
            info: Data("martlet push 1".utf8),
            encapsulatedKey: bytes.prefix(32)
        )
        let authenticated = Data("\(app)\n\(self.notification.uuidString)".utf8)
        return try recipient.open(bytes.dropFirst(32), authenticating: authenticated)
    }

    @Test("The holder of the private key reads the payload, and nobody else")
    func roundTrip() throws {
        let key = Curve25519.KeyAgreement.PrivateKey()
        let sealer = ContentSealer(bundleID: "com.example.app", notification: self.notification)
        let text = try sealer.seal(self.payload, to: key.publicKey.rawRepresentation)
        #expect(try self.open(text, key, app: "com.example.app") == self.payload)
        #expect(throws: (any Error).self) { try self.open(text, .init(), app: "com.example.app") }
        #expect(throws: (any Error).self) { try self.open(text, key, app: "com.example.other") }
    }

    @Test("Equal payloads have different texts of the length that was announced", arguments: [0, 1, 2, 3, 30, 3000])
    func lengths(length: Int) throws {
        let key = Curve25519.KeyAgreement.PrivateKey().publicKey.rawRepresentation
        let sealer = ContentSealer(bundleID: "com.example.app", notification: self.notification)
        let texts = try (0..<3).map { _ in try sealer.seal(Data(count: length), to: key) }
        #expect(Set(texts).count == 3)
        #expect(texts.allSatisfy { $0.utf8.count == EnvelopeText.sealedLength(ofPayload: length) })
    }

    @Test("Keys of another length and of small order are refused")
    func unusableKeys() throws {
        let one = Data([1]) + Data(count: 31)
        let ofOrderEight = try #require(Data(base64Encoded: "4Ot6fDtBuK4WVuP68Z/EatoJjeucMrH9hmIFFl9JuAA="))
        for key in [Data(), Data(count: 31), Data(count: 33), Data(count: 32), one, ofOrderEight] {
            #expect(!InstallationPublicKey.isUsable(key))
        }
        let sealer = ContentSealer(bundleID: "com.example.app", notification: self.notification)
        for key in [Data(), Data(count: 31), Data(count: 33)] {
            #expect(throws: ContentSealer.UnusableKey.self) { try sealer.seal(self.payload, to: key) }
        }
        #expect(InstallationPublicKey.isUsable(Curve25519.KeyAgreement.PrivateKey().publicKey.rawRepresentation))
    }
}
