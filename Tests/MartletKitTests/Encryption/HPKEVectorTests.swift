import Crypto
import Foundation
import Testing

@testable import MartletKit

/// The vector of RFC 9180, A.2.1: base mode, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20-Poly1305.
@Suite("Vectors of RFC 9180, A.2.1") struct HPKEVectorTests {
    private static let info = "4f6465206f6e2061204772656369616e2055726e"
    private static let privateKey = "8057991eef8f1f1af18f4a9491d16a1ce333f695d4db8e38da75975c4478e0fb"
    private static let publicKey = "4310ee97d88cc1f088a5576c77ab0cf5c3ac797f3d95139c6c84b5429c59662a"
    private static let encapsulatedKey = "1afa08d3dec047a643885163f1180476fa7ddb54c6a8029ea33f95796bf2ac4a"
    private static let plaintext = "4265617574792069732074727574682c20747275746820626561757479"
    /// The authenticated data and the ciphertext of the messages with the sequence numbers 0, 1 and 2.
    private static let messages = [
        (
            authenticated: "436f756e742d30",
            ciphertext: "1c5250d8034ec2b784ba2cfd69dbdb8af406cfe3ff938e131f0def8c8b60b4db21993c62ce81883d2dd1b51a28"
        ),
        (
            authenticated: "436f756e742d31",
            ciphertext: "6b53c051e4199c518de79594e1c4ab18b96f081549d45ce015be002090bb119e85285337cc95ba5f59992dc98c"
        ),
        (
            authenticated: "436f756e742d32",
            ciphertext: "71146bd6795ccc9c49ce25dda112a48f202ad220559502cef1f34271e0cb4b02b4f10ecac6f48c32f878fae86b"
        ),
    ]

    private func bytes(_ hexadecimal: String) throws -> Data {
        let digits = Array(hexadecimal.utf8)
        try #require(digits.count.isMultiple(of: 2))
        return Data(
            try stride(from: 0, to: digits.count, by: 2).map { position in
                try #require(UInt8(String(decoding: digits[position..<position + 2], as: UTF8.self), radix: 16))
            }
        )
    }

    private func key() throws -> Curve25519.KeyAgreement.PrivateKey {
        try .init(rawRepresentation: try self.bytes(Self.privateKey))
    }

    @Test("The private key belongs to the public one")
    func keys() throws {
        #expect(try self.key().publicKey.rawRepresentation == self.bytes(Self.publicKey))
    }

    @Test("The first message is opened as content is")
    func firstMessage() throws {
        let message = try #require(Self.messages.first)
        let sealed = try self.bytes(Self.encapsulatedKey + message.ciphertext)
        let opened = try ContentEncryption.open(
            sealed,
            with: try self.key(),
            info: try self.bytes(Self.info),
            authenticating: try self.bytes(message.authenticated)
        )
        #expect(try opened == self.bytes(Self.plaintext))
        for position in sealed.indices {
            var changed = sealed
            changed[position] ^= 1
            #expect(throws: (any Error).self, "byte \(position)") {
                try ContentEncryption.open(
                    changed,
                    with: try self.key(),
                    info: try self.bytes(Self.info),
                    authenticating: try self.bytes(message.authenticated)
                )
            }
        }
    }

    @Test("The messages of the vector are opened one after the other by the same cipher suite")
    func messages() throws {
        var recipient = try HPKE.Recipient(
            privateKey: try self.key(),
            ciphersuite: ContentEncryption.ciphersuite,
            info: try self.bytes(Self.info),
            encapsulatedKey: try self.bytes(Self.encapsulatedKey)
        )
        for message in Self.messages {
            let ciphertext = try self.bytes(message.ciphertext)
            let opened = try recipient.open(ciphertext, authenticating: try self.bytes(message.authenticated))
            #expect(try opened == self.bytes(Self.plaintext))
        }
    }
}
